import { partsOf } from "./patch";

/** One change of a file as a call asked for it. */
export interface Edit {
  readonly path: string;
  readonly before: string | undefined; // undefined: not known, all of it is new
  readonly after: string;
  readonly lines?: readonly DiffLine[]; // of a patch
}

/** A call by what it asks for: changes, and the fields of which none of them tells. */
export interface Drawn {
  readonly edits: readonly Edit[];
  readonly rest: Fields;
}

type Fields = Readonly<Record<string, unknown>>;

/** The changes that a call asks for, whichever agent's tool it is. */
export function editsOf(_tool: string, input: unknown): readonly Edit[] {
  return drawn(input).edits;
}

export function drawn(input: unknown): Drawn {
  if (typeof input !== "object" || input === null) return { edits: [], rest: {} };
  const { take, rest } = taking(input as Fields);
  const path = take("path", "file_path", "notebook_path");
  const patch = take("diff", "patch") ?? (String(rest["input"]).startsWith("*** Begin Patch") ? take("input") : undefined);
  if (patch !== undefined) return { edits: partsOf(split(patch), path).map(({ name, lines }) => ({ path: name, before: undefined, after: "", lines })), rest };
  if (path === undefined) return { edits: [], rest };
  const content = take("content", "new_source");
  if (content !== undefined) return { edits: [{ path, before: undefined, after: content }], rest };
  const list = rest["edits"], one = replaced(path, rest);
  if (one !== undefined) return one;
  const all = Array.isArray(list) ? list.map((e: unknown) => replaced(path, e) ?? { edits: [], rest: e }) : [];
  const edits = all.flatMap((e) => e.edits);
  if (edits.length === 0) return { edits, rest: input as Fields };
  if (all.every((e) => e.edits.length > 0 && Object.keys(e.rest as Fields).length === 0)) delete rest["edits"];
  else rest["edits"] = all.map((e) => e.rest);
  return { edits, rest };
}

/** One text in the place of another. */
function replaced(path: string, fields: unknown): Drawn | undefined {
  const { take, rest } = taking(fields as Fields);
  const before = take("old_string", "old", "oldText"), after = take("new_string", "new", "newText");
  return before === undefined || after === undefined ? undefined : { edits: [{ path, before, after }], rest };
}

/** Takes the first of some fields that is a text; what nobody took is the rest. */
function taking(fields: Fields): { readonly take: (...names: string[]) => string | undefined; readonly rest: Record<string, unknown> } {
  const rest: Record<string, unknown> = { ...fields };
  const take = (...names: string[]) => {
    const name = names.find((n) => typeof rest[n] === "string");
    if (name === undefined) return undefined;
    const text = rest[name] as string;
    delete rest[name];
    return text;
  };
  return { take, rest };
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
  if (e.lines !== undefined) return blanks ? unblanked(e.lines) : e.lines;
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
