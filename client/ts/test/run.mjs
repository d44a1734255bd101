// Bundles the tests into a folder and runs them: node test/run.mjs FOLDER [test …]
// HARNESS_TEST_BIN is the server to test against; without it those tests are skipped.
import { spawnSync } from "node:child_process";
import { readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const [folder, ...names] = process.argv.slice(2);
const found = readdirSync(join(root, "test")).filter((f) => /\.test\.tsx?$/.test(f) && (names.length === 0 || names.some((n) => f.startsWith(n + ".test."))));
await build({
  absWorkingDir: root,
  entryPoints: [...found, "slow.worker.ts"].map((f) => "test/" + f),
  outdir: folder,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  jsx: "automatic",
  sourcemap: "inline",
  packages: "external",
  logLevel: "warning",
});
symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
const run = spawnSync(
  process.execPath,
  ["--experimental-websocket", "--enable-source-maps", "--test-reporter=spec", "--test-concurrency=3", "--test", ...found.map((f) => join(folder, f.replace(/\.tsx?$/, ".mjs")))],
  { stdio: "inherit", env: { ...process.env, HARNESS_TEST_ROOT: pathToFileURL(root).href } },
);
process.exitCode = run.status ?? 1;
