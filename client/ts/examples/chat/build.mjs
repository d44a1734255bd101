// Builds the page into dist, or into the folder that is given: node build.mjs [FOLDER]
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const folder = process.argv[2] ?? join(here, "dist");
const client = (name) => fileURLToPath(new URL("../../src/" + name, import.meta.url));
await build({
  absWorkingDir: here,
  entryPoints: ["src/main.tsx"],
  outdir: folder,
  bundle: true,
  minify: true,
  splitting: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  alias: {
    "harness-client": client("index.ts"),
    "harness-client/http": client("http.ts"),
    "harness-client/long": client("long.ts"),
    "harness-client/pages": client("pages.ts"),
    "harness-client/react": client("react.tsx"),
    "harness-client/assistant-ui": client("assistant-ui.tsx"),
  },
  define: { "process.env.NODE_ENV": '"production"' },
  logLevel: "warning",
});
copyFileSync(join(here, "index.html"), join(folder, "index.html"));
