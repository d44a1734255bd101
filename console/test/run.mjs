// Bundles the tests of what is pure into a folder and runs them: node test/run.mjs FOLDER
import { spawnSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

import config from "../vite.config.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = process.argv[2];
const input = readdirSync(join(root, "test")).filter((f) => f.endsWith(".test.mjs")).map((f) => join(root, "test", f));
await build({
  root,
  configFile: false,
  logLevel: "warn",
  resolve: config.resolve,
  ssr: { noExternal: true },
  build: { ssr: true, outDir: folder, emptyOutDir: false, copyPublicDir: false, minify: false, rollupOptions: { input, output: { entryFileNames: "[name].js" } } },
});
writeFileSync(join(folder, "package.json"), `{"type":"module"}`);
const run = spawnSync(process.execPath, ["--test-reporter=spec", "--test", ...input.map((f) => join(folder, f.slice(root.length + 5).replace(/mjs$/, "js")))], { stdio: "inherit" });
process.exitCode = run.status ?? 1;
