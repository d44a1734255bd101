import type { DiffLine } from "./edits";

/** What a patch says about one file; without a name, what stands before any. */
export interface Part {
  readonly name: string;
  readonly lines: readonly DiffLine[];
}

/** A name as a header has it, without its time. */
const bare = (s: string) => s.replace(/\t.*$/, "").replace(/^[ab]\//, "");

/**
 * Reads a patch, of git or as Codex writes them, file by file. Headers are looked
 * for where a hunk cannot be: before the first, and behind the lines that it
 * counts. No line is left out but those that only say the name.
 */
export function partsOf(lines: readonly string[], known: string | undefined): readonly Part[] {
  const parts: { name: string; lines: DiffLine[] }[] = [];
  const codex = lines.some((l) => /^\*\*\* (Begin Patch|(Update|Add|Delete) File: )/.test(l)); // there three signs are a line like any
  let part: (typeof parts)[number] | undefined;
  let from = 1, to = 1, less = 0, more = 0; // where a hunk is, and what of it is still to come
  let fresh = false; // of this file there was no hunk yet
  const here = () => part ?? add(known ?? "");
  const add = (name: string) => (parts.push((part = { name, lines: [] })), part);
  const say = (text: string) => void here().lines.push({ kind: "@", text });
  const open = (name: string) => {
    if (known !== undefined) here();
    else if (part?.name === "" && part.lines.every((l) => l.kind === "@")) part.name = name; // that was about this file
    else add(name);
    [from, to, less, more, fresh] = [1, 1, 0, 0, true];
  };
  for (let i = 0; i < lines.length; i++) {
    const l = lines[i]!, inside = less > 0 || more > 0, next = lines[i + 1] ?? "";
    let m: RegExpExecArray | null;
    if (inside && /^([-+ ]|$)/.test(l)) {
      // a line of the hunk, whatever it looks like
    } else if ((m = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(l)) !== null) {
      [from, less, to, more, fresh] = [Number(m[1]), Number(m[2] ?? 1), Number(m[3]), Number(m[4] ?? 1), false];
      say(l);
      continue;
    } else if ((m = /^\*\*\* (?:Update|Add|Delete) File: (.+)$/.exec(l)) !== null) {
      open(m[1]!);
      if (m[1] !== here().name || !l.startsWith("*** Update")) say(l);
      continue;
    } else if (l.startsWith("diff ")) {
      const half = (l.length + 11) >> 1, name = bare(l.slice(half + 1)); // diff --git a/name b/name
      const same = bare(l.slice(11, half)) === name;
      open(same ? name : bare(l.slice(l.lastIndexOf(" ") + 1)));
      if (!same || name !== here().name) say(l);
      continue;
    } else if (!codex && l.startsWith("--- ") && next.startsWith("+++ ")) {
      const old = bare(l.slice(4)), now = bare(next.slice(4));
      if (!fresh) open("");
      if (known === undefined) part!.name = now === "/dev/null" ? old : now;
      fresh = false;
      if (old !== here().name) say(l);
      if (now !== here().name) say(next);
      i++;
      continue;
    } else if (/^index [0-9a-f]+\.\.[0-9a-f]+( 100644)?$|^\*\*\* (Begin|End) Patch$/.test(l)) {
      continue;
    }
    const kind = l[0] ?? " ";
    if (kind === "+" || kind === "-" || kind === " ") {
      here().lines.push({ kind, text: l.slice(1), ...(kind !== "+" && { from: from++ }), ...(kind !== "-" && { to: to++ }) });
      if (kind !== "+") less--;
      if (kind !== "-") more--;
    } else {
      if (kind !== "\\") less = more = 0; // no line of a hunk begins so
      say(l);
    }
  }
  return parts;
}
