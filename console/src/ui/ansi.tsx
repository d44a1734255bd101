import { memo, type ReactNode, useMemo, useState } from "react";

import { t } from "../i18n";
import { Button } from "./controls";
import { KnownList } from "./list";

/** Colours of a terminal as classes; everything else of its language is left out. */
export function ansi(line: string): ReactNode {
  if (!line.includes("\u001b") && !line.includes("\r") && !line.includes("\b")) return line;
  const text = line.replace(/^.*\r(?=.)/, "").replace(/.\u0008/g, "");
  const out: ReactNode[] = [];
  let look = new Set<string>(), from = 0, n = 0;
  // eslint-disable-next-line no-control-regex
  const codes = /\u001b(?:\[([0-9;:?]*)([A-Za-z])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|.)/g;
  const put = (s: string) => {
    const clean = s.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, "");
    if (clean !== "") out.push(look.size === 0 ? clean : <span key={n++} className={[...look].join(" ")}>{clean}</span>);
  };
  for (let m = codes.exec(text); m !== null; m = codes.exec(text)) {
    put(text.slice(from, m.index));
    from = m.index + m[0].length;
    if (m[2] === "m") look = style(look, m[1] ?? "");
  }
  put(text.slice(from));
  return out;
}

function style(before: ReadonlySet<string>, codes: string): Set<string> {
  const look = new Set(before);
  const colour = (c: number | undefined) => {
    for (const x of look) if (x.startsWith("a-f")) look.delete(x);
    if (c !== undefined) look.add(`a-f${c}`);
  };
  const list = codes.split(/[;:]/).map((x) => Number(x === "" ? 0 : x));
  for (let i = 0; i < list.length; i++) {
    const c = list[i]!;
    if (c === 0) look.clear();
    else if (c === 1) look.add("a-bold");
    else if (c === 2) look.add("a-dim");
    else if (c === 3) look.add("a-italic");
    else if (c === 4) look.add("a-under");
    else if (c === 22) (look.delete("a-bold"), look.delete("a-dim"));
    else if (c === 23) look.delete("a-italic");
    else if (c === 24) look.delete("a-under");
    else if (c >= 30 && c <= 37) colour(c - 30);
    else if (c >= 90 && c <= 97) colour(c - 82);
    else if (c === 39) colour(undefined);
    else if (c === 38 || c === 48) {
      const which = list[i + 1];
      if (c === 38 && which === 5) colour((list[i + 2] ?? 7) < 16 ? (list[i + 2] ?? 7) : undefined);
      i += which === 5 ? 2 : which === 2 ? 4 : 0;
    }
  }
  return look;
}

/** Lines that are shown as they are; of more, a list that makes only what is seen. */
const plainly = 400;

/** What a program printed: colours, and nothing else of what terminals can be told to do. */
export const Output = memo(function Output({ text, lines = 16 }: { readonly text: string; readonly lines?: number }): ReactNode {
  const all = useMemo(() => text.replace(/\n$/, "").split("\n"), [text]);
  const [open, setOpen] = useState(false);
  const box = "rounded-lg bg-sunken font-mono text-xs leading-5 border border-line";
  if (open && all.length > plainly) {
    return <KnownList label={t("tool.output")} className={`${box} h-96 px-3 py-2`} count={all.length} height={20} row={(i) => <div key={i} role="listitem" className="h-5 whitespace-pre">{ansi(all[i]!)}</div>} />;
  }
  const shown = open ? all : all.slice(-lines);
  return (
    <div className={box}>
      {all.length > lines && (
        <div className="flex items-center justify-between border-b border-line px-3 py-1 font-sans text-faint">
          <span>{open ? t("output.lines", { n: all.length }) : t("output.last", { n: lines, of: all.length })}</span>
          <Button size="sm" tone="quiet" onClick={() => setOpen(!open)}>{open ? t("less") : t("more")}</Button>
        </div>
      )}
      <pre tabIndex={0} className="max-h-[32rem] overflow-auto px-3 py-2 whitespace-pre-wrap break-words">{shown.map((l, i) => <span key={i}>{ansi(l)}{"\n"}</span>)}</pre>
    </div>
  );
});
