import assert from "node:assert/strict";
import { test } from "node:test";

import { countOf, drawn, linesOf } from "../src/data/edits";

/** An edit as it is read: its path, then its lines with their signs. */
const read = (e) => [e.path, ...linesOf(e).map((l) => l.kind + l.text)];
const patch = (lines, more = {}) => drawn({ patch: lines.join("\n") + "\n", ...more }).edits.map(read);

test("no field of a call is lost", () => {
  const all = (input) => drawn(input).rest;
  assert.deepEqual(all({ command: "curl evil -o x", path: "README.md", content: "hello" }), { command: "curl evil -o x" });
  assert.deepEqual(all({ owner: "o", repo: "r", branch: "main", path: "a", content: "b" }), { owner: "o", repo: "r", branch: "main" });
  assert.deepEqual(all({ path: "a", old: "x", new: "y", replace_all: true }), { replace_all: true });
  assert.deepEqual(all({ path: "a", file_path: "b", content: "c", new_source: "d" }), { file_path: "b", new_source: "d" });
  assert.deepEqual(all({ diff: "+a", patch: "+b" }), { patch: "+b" });
  assert.deepEqual(all({ path: "a", edits: [{ old: "x", new: "y" }] }), {});
  assert.deepEqual(all({ path: "a", edits: [{ old: "x", new: "y" }, { old: "z", new: "", all: 1 }, 7, null] }), { edits: [{}, { all: 1 }, 7, null] });
  for (const whole of [{ path: "a", old: "x" }, { path: "a", edits: [1] }, { path: "a" }, { content: "x" }, { path: 7, content: "x" }, { url: "x" }]) assert.deepEqual(drawn(whole), { edits: [], rest: whole });
  assert.deepEqual(drawn(["a"]), { edits: [], rest: { 0: "a" } });
  assert.deepEqual(drawn(undefined), { edits: [], rest: {} });
});

test("lines of a hunk are lines, whatever they look like", () => {
  assert.deepEqual(patch(["--- a/x.sql", "+++ b/x.sql", "@@ -1,3 +1,3 @@", "--- old sql comment", "+++secret_counter;", " diff --git a/p b/p", "--- old", "+++ new"]), [
    ["x.sql", "@@@ -1,3 +1,3 @@", "--- old sql comment", "+++secret_counter;", " diff --git a/p b/p", "--- old", "+++ new"],
  ]);
});

test("behind the lines that a hunk counts is the next file", () => {
  assert.deepEqual(patch(["--- a/x", "+++ b/x", "@@ -1 +1 @@", "-a", "+b", "\\ No newline at end of file", "--- a/y", "+++ /dev/null", "@@ -1 +0,0 @@", "-c"]), [
    ["x", "@@@ -1 +1 @@", "-a", "+b", "@\\ No newline at end of file"],
    ["y", "@+++ /dev/null", "@@@ -1 +0,0 @@", "-c"],
  ]);
});

test("what has no name, or no hunk, is shown", () => {
  assert.deepEqual(patch(["rename from .env", "rename to public/.env"]), [["", "@rename from .env", "@rename to public/.env"]]);
  assert.deepEqual(patch(["rename from .env", "rename to public/.env", "--- a/x", "+++ b/x", "@@ -1 +1 @@", "-a", "+b"]), [["x", "@rename from .env", "@rename to public/.env", "@@@ -1 +1 @@", "-a", "+b"]]);
  assert.deepEqual(patch(["diff --git a/.env b/public/.env", "similarity index 100%", "rename from .env", "rename to public/.env", "diff --git a/x y b/x y", "index 12ab..34cd 100644", "--- a/x y", "+++ b/x y", "@@ -1 +1 @@", "-a", "+b", "diff --git a/run.sh b/run.sh", "old mode 100644", "new mode 100755"]), [
    ["public/.env", "@diff --git a/.env b/public/.env", "@similarity index 100%", "@rename from .env", "@rename to public/.env"],
    ["x y", "@@@ -1 +1 @@", "-a", "+b"],
    ["run.sh", "@old mode 100644", "@new mode 100755"],
  ]);
  assert.deepEqual(patch(["--- a/x", "+++ b/x", "@@ -1 +1 @@", "-a", "+b", "old mode 100644", "new mode 100755"]), [["x", "@@@ -1 +1 @@", "-a", "+b", "@old mode 100644", "@new mode 100755"]]);
  assert.deepEqual(patch(["-a", "+b"]), [["", "-a", "+b"]]);
});

test("a name in a patch that is not the call's is shown", () => {
  const of = (name) => patch([`--- a/${name}`, `+++ b/${name}`, "@@ -1 +1 @@", "-a", "+b"], { path: "README.md" });
  assert.deepEqual(of("README.md"), [["README.md", "@@@ -1 +1 @@", "-a", "+b"]]);
  assert.deepEqual(of(".ssh/authorized_keys"), [["README.md", "@--- a/.ssh/authorized_keys", "@+++ b/.ssh/authorized_keys", "@@@ -1 +1 @@", "-a", "+b"]]);
});

test("a patch of Codex names its files and what becomes of them", () => {
  const lines = ["*** Begin Patch", "*** Update File: a.ts", "*** Move to: b.ts", "@@ def f", " x", "--- a/y", "+++ b/y", "*** Add File: n", "+new", "*** Delete File: o", "*** End Patch"];
  assert.deepEqual(drawn({ input: lines.join("\n") }).edits.map(read), [
    ["a.ts", "@*** Move to: b.ts", "@@@ def f", " x", "--- a/y", "+++ b/y"],
    ["n", "@*** Add File: n", "+new"],
    ["o", "@*** Delete File: o"],
  ]);
});

test("a patch without blanks has only what is another in more than them", () => {
  const lines = ["--- a/x.go", "+++ b/x.go", "@@ -3,5 +3,6 @@", " func x() {", "-  a()", "-  b()", "+\ta()", "+\tif ok {", "+\t\tb()", "+\t}", " }"];
  const [edit] = drawn({ patch: lines.join("\n") }).edits;
  assert.deepEqual(countOf(linesOf(edit)), { plus: 4, minus: 2 });
  assert.deepEqual(linesOf(edit, true).map((l) => `${l.kind} ${l.from ?? ""} ${l.to ?? ""} ${l.text}`), [
    "@   @@ -3,5 +3,6 @@", "  3 3 func x() {", "  4 4 \ta()", "+  5 \tif ok {", "  5 6 \t\tb()", "+  7 \t}", "  6 8 }",
  ]);
});
