import assert from "node:assert/strict";
import { test } from "node:test";

import { riskOf } from "../src/data/harm";
import { subjectOf } from "../src/data/risk";

const run = (command, more = {}) => riskOf("bash", { command, ...more });

test("a command that changes nothing is a low risk", () => {
  for (const c of [
    "ls", "ls -la src/*.ts", "  cat a.txt  ", "wc -l go.mod", "git status", "git log --oneline -n 5", "git diff main..ask", "git branch", "git branch -vv", "git branch --show-current",
    `rg "foo|bar" src`, "find . -name '*.go'", "echo hello", "echo 'a; b'", "date +%F", "go list ./...", "npm ls", "cat größe.txt",
  ]) assert.equal(run(c), "low", c);
  assert.equal(run("ls", { description: "look", timeout_seconds: 5, directory: "src", run_in_background: false }), "low");
  assert.equal(riskOf("exec_command", { command: ["git", "status"], cwd: "/w" }), "low");
});

test("what is more than one such command is not", () => {
  for (const c of [
    "ls\nmv ~/.ssh /tmp/x", "cat a\npython3 evil.py", "ls\r\nmv a b", "ls\rmv a b", "ls\u2028mv a b", "ls\vmv", "ls\u0085mv", "git\nstatus", "ls \u202ex",
    "ls; mv a b", "ls & mv a b", "ls | sh", "cat a > b", "echo $(mv a b)", "echo `mv a b`", 'echo "$(mv a b)"', "echo {a,b}", "ls \\\nmv", "cat <(mv a b)",
    "npm run deploy", "npm test", "go test ./...", "go build -o /bin/ls .", "go list -toolexec=evil ./...", "git branch -D main", "git branch new", "git branch -m old new", "git log --output=x", 'git diff "--output=x"', "git diff --o''utput=x", "git show --ext-diff",
    "find . -delete", "find . -exec mv {} x", "find . -fprint x", "find . -de'lete'", "find . '-delete'", "find . *", "rg --pre=evil x", "rg '--pre' evil x", "date -s 10:00", "date 01010000", "PATH=. ls", "constructor", "", " ",
  ]) assert.notEqual(run(c), "low", JSON.stringify(c));
});

test("a command counts only where it is run, and alone", () => {
  const call = { path: "/etc/x", content: "evil", command: "ls" };
  for (const tool of ["write", "edit", "read", "search", "bash", "create_or_update_file"]) assert.equal(riskOf(tool, call), "medium", tool);
  assert.equal(subjectOf("write", call), "/etc/x");
  assert.equal(run("ls", { cmd: "mv a b" }), "medium");
  assert.equal(run("ls", { dangerouslyDisableSandbox: true }), "medium");
  assert.equal(riskOf("write", { path: "a", command: "rm -rf /" }), "high");
  assert.equal(riskOf("read", { path: "a" }), "low");
});
