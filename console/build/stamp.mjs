// Writes dist/STAMP.json: a digest of everything that the page is built from.
// stamp_test.go computes it again, so that nobody commits one without the other.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const roots = ["src", "public", "build", "../client/ts/src"];
const files = ["index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.mjs"];
for (const root of roots) {
  for (const e of readdirSync(root, { recursive: true, withFileTypes: true })) if (e.isFile()) files.push(join(e.parentPath, e.name));
}
const all = createHash("sha256");
for (const name of files.map((f) => f.replaceAll("\\", "/")).sort()) {
  all.update(`${createHash("sha256").update(readFileSync(name)).digest("hex")}  ${name}\n`);
}
writeFileSync("dist/STAMP.json", JSON.stringify({ sources: all.digest("hex") }) + "\n");
