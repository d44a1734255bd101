import assert from "node:assert/strict";
import { test } from "node:test";

import { countOf, linesOf } from "../src/data/edits";

const patch = ["--- a/x.go", "+++ b/x.go", "@@ -3,5 +3,6 @@", " func x() {", "-  a()", "-  b()", "+\ta()", "+\tif ok {", "+\t\tb()", "+\t}", " }"].join("\n");
const edit = { path: "x.go", before: undefined, after: "", patch };

test("a patch without blanks has only what is another in more than them", () => {
  assert.deepEqual(countOf(linesOf(edit)), { plus: 4, minus: 2 });
  assert.deepEqual(linesOf(edit, true).map((l) => `${l.kind} ${l.from ?? ""} ${l.to ?? ""} ${l.text}`), [
    "@   @@ -3,5 +3,6 @@", "  3 3 func x() {", "  4 4 \ta()", "+  5 \tif ok {", "  5 6 \t\tb()", "+  7 \t}", "  6 8 }",
  ]);
});
