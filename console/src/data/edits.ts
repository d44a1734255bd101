/** One change of a file as a call asked for it. */
export interface Edit {
  readonly path: string;
  readonly before: string | undefined; // undefined: not known, all of it is new
  readonly after: string;
  readonly patch?: string;
}

type Fields = Readonly<Record<string, unknown>>;
const text = (v: unknown) => (typeof v === "string" ? v : undefined);

/** The changes that a call asks for, whichever agent's tool it is. */
export function editsOf(_tool: string, input: unknown): readonly Edit[] {
  if (typeof input !== "object" || input === null) return [];
  const i = input as Fields;
  const patch = text(i["diff"]) ?? text(i["patch"]) ?? (text(i["input"])?.startsWith("*** Begin Patch") ? text(i["input"]) : undefined);
  const path = text(i["path"]) ?? text(i["file_path"]) ?? text(i["notebook_path"]);
  if (patch !== undefined) return patches(patch, path);
  if (path === undefined) return [];
  const content = text(i["content"]) ?? text(i["new_source"]);
  if (content !== undefined) return [{ path, before: undefined, after: content }];
  const one = (e: Fields): Edit[] => {
    const before = text(e["old_string"]) ?? text(e["old"]) ?? text(e["oldText"]), after = text(e["new_string"]) ?? text(e["new"]) ?? text(e["newText"]);
    return before === undefined || after === undefined ? [] : [{ path, before, after }];
  };
  return Array.isArray(i["edits"]) ? (i["edits"] as Fields[]).flatMap(one) : one(i);
}

/** What a patch does to each file that it names, or to the one that is known. */
function patches(patch: string, path: string | undefined): Edit[] {
  const edit = (path: string, patch: string): Edit => ({ path, before: undefined, after: "", patch });
  const parts = path !== undefined ? [] : patch.split(/^(?=\*\*\* (?:Update|Add|Delete) File: |--- .*\n\+\+\+ )/m).flatMap((p) => {
    const name = namedIn(p);
    return name === undefined ? [] : [edit(name, p)];
  });
  return parts.length > 0 ? parts : [edit(path ?? "", patch)];
}

function namedIn(patch: string): string | undefined {
  const named = /^(?:\+\+\+ |\*\*\* (?:Update|Add|Delete) File: )(?!\/dev\/null)(.+)$/m.exec(patch) ?? /^--- (.+)$/m.exec(patch);
  return named?.[1]!.replace(/^[ab]\//, "");
}

export interface DiffLine {
  readonly kind: " " | "+" | "-" | "@";
  readonly text: string;
  readonly from?: number;
  readonly to?: number;
}

/** The most lines of which a shortest difference is looked for. */
const most = 1200;

/** The lines of an edit: what goes, what comes, what stays. If blanks do not count, lines that differ in them stay. */
export function linesOf(e: Edit, blanks = false): readonly DiffLine[] {
  if (e.patch !== undefined) return blanks ? unblanked(patchLines(e.patch)) : patchLines(e.patch);
  const after = split(e.after);
  if (e.before === undefined) return after.map((text, n) => ({ kind: "+", text, to: n + 1 }));
  return difference(split(e.before), after, blanks ? bare : (l) => l);
}

const bare = (line: string) => line.replace(/\s+/g, "");

/** Lines of a patch, where those that come and go with other blanks stay. */
function unblanked(lines: readonly DiffLine[]): DiffLine[] {
  const out: DiffLine[] = [], gone: DiffLine[] = [], come: DiffLine[] = [];
  const texts = (of: DiffLine[]) => of.map((l) => l.text);
  const flush = () => {
    for (const l of difference(texts(gone), texts(come), bare)) out.push({ ...l, ...(l.from !== undefined && { from: gone[l.from - 1]!.from! }), ...(l.to !== undefined && { to: come[l.to - 1]!.to! }) });
    gone.length = come.length = 0;
  };
  for (const l of lines) {
    if (l.kind === "-") gone.push(l);
    else if (l.kind === "+") come.push(l);
    else (flush(), out.push(l));
  }
  flush();
  return out;
}

function split(s: string): string[] {
  const lines = s.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function patchLines(patch: string): DiffLine[] {
  let from = 0, to = 0;
  return split(patch).filter((l) => !/^(---|\+\+\+|diff |index |\*\*\* (Begin|End) Patch)/.test(l)).map((l): DiffLine => {
    const at = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(l);
    if (at !== null) {
      [from, to] = [Number(at[1]), Number(at[2])];
      return { kind: "@", text: l };
    }
    switch (l[0]) {
      case "+":
        return { kind: "+", text: l.slice(1), to: to++ };
      case "-":
        return { kind: "-", text: l.slice(1), from: from++ };
      case "@":
      case "*":
        return { kind: "@", text: l };
      default:
        return { kind: " ", text: l.slice(1), from: from++, to: to++ };
    }
  });
}

/** The longest common lines stay; where that is too much to look for, everything goes and comes. */
function difference(from: readonly string[], to: readonly string[], as: (line: string) => string): DiffLine[] {
  const a = from.map(as), b = to.map(as);
  let head = 0, tail = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const x = a.slice(head, a.length - tail), y = b.slice(head, b.length - tail);
  const out: DiffLine[] = to.slice(0, head).map((text, i) => ({ kind: " ", text, from: i + 1, to: i + 1 }));
  let i = 0, j = 0;
  const gone = () => out.push({ kind: "-", text: from[head + i]!, from: head + ++i }), come = () => out.push({ kind: "+", text: to[head + j]!, to: head + ++j });
  if (x.length * y.length <= most * most) {
    const w = y.length + 1, table = new Uint16Array((x.length + 1) * w);
    for (let p = x.length - 1; p >= 0; p--) for (let q = y.length - 1; q >= 0; q--) table[p * w + q] = x[p] === y[q] ? table[(p + 1) * w + q + 1]! + 1 : Math.max(table[(p + 1) * w + q]!, table[p * w + q + 1]!);
    while (i < x.length && j < y.length) {
      if (x[i] === y[j]) out.push({ kind: " ", text: to[head + j]!, from: head + ++i, to: head + ++j });
      else if (table[(i + 1) * w + j]! >= table[i * w + j + 1]!) gone();
      else come();
    }
  }
  while (i < x.length) gone();
  while (j < y.length) come();
  for (let n = 0; n < tail; n++) out.push({ kind: " ", text: to[b.length - tail + n]!, from: a.length - tail + n + 1, to: b.length - tail + n + 1 });
  return out;
}

export function countOf(lines: readonly DiffLine[]): { readonly plus: number; readonly minus: number } {
  let plus = 0, minus = 0;
  for (const l of lines) if (l.kind === "+") plus++; else if (l.kind === "-") minus++;
  return { plus, minus };
}

/** Two lines that stand side by side; what stays is on both sides. */
export interface Pair {
  readonly from: DiffLine | undefined;
  readonly to: DiffLine | undefined;
}

/** Lines side by side: what goes stands beside what comes in its place. */
export function pairsOf(lines: readonly DiffLine[]): readonly Pair[] {
  const out: Pair[] = [];
  let gone: DiffLine[] = [], come: DiffLine[] = [];
  const flush = () => {
    for (let i = 0; i < Math.max(gone.length, come.length); i++) out.push({ from: gone[i], to: come[i] });
    gone = [];
    come = [];
  };
  for (const l of lines) {
    if (l.kind === "-") gone.push(l);
    else if (l.kind === "+") come.push(l);
    else (flush(), out.push({ from: l, to: l }));
  }
  flush();
  return out;
}
