import { memo, type ReactNode, useMemo, useState } from "react";

import { countOf, type DiffLine, type Edit, linesOf, pairsOf } from "../data/edits";
import { plain } from "../data/plain";
import { t } from "../i18n";
import { Button } from "./controls";

export function Counts({ plus, minus }: { readonly plus: number; readonly minus: number }): ReactNode {
  return (
    <span className="num inline-flex gap-1.5 font-mono text-xs">
      {plus > 0 && <span className="text-ok">+{plus}</span>}
      {minus > 0 && <span className="text-bad">−{minus}</span>}
    </span>
  );
}

const tones = { "+": "bg-ok-soft", "-": "bg-bad-soft", " ": "", "@": "bg-sunken text-faint" };

type OnLine = ((l: DiffLine) => void) | undefined;

/** A line of one side; where there is none, room for the other's. */
function Cell({ line: l, onLine, side }: { readonly line: DiffLine | undefined; readonly onLine: OnLine; readonly side?: "from" | "to" }): ReactNode {
  if (l === undefined) return <div aria-hidden="true" className="min-w-0 flex-1 bg-sunken" />;
  const number = side === undefined ? (l.to ?? l.from ?? "") : (l[side] ?? "");
  return (
    <div className={`group/line flex min-w-0 flex-1 ${tones[l.kind]}`}>
      <span aria-hidden="true" className="num w-10 shrink-0 pe-2 text-end text-faint select-none">{l.kind === "@" ? "" : number}</span>
      <span className={`w-4 shrink-0 select-none ${l.kind === "+" ? "text-ok" : l.kind === "-" ? "text-bad" : ""}`}>{l.kind === " " || l.kind === "@" ? "" : l.kind}</span>
      <span className="min-w-0 flex-1 pe-3 whitespace-pre-wrap [overflow-wrap:anywhere]">{l.text === "" ? " " : plain(l.text)}</span>
      {onLine !== undefined && l.kind !== "@" && (
        <button type="button" onClick={() => onLine(l)} aria-label={t("changes.comment.on", { line: l.to ?? l.from ?? 0 })} className="me-1 hidden rounded px-1.5 text-mark group-hover/line:block hover:bg-mark-soft focus-visible:block">+</button>
      )}
    </div>
  );
}

function Together({ lines, onLine }: { readonly lines: readonly DiffLine[]; readonly onLine: OnLine }): ReactNode {
  return <div className="min-w-full font-mono text-xs leading-5">{lines.map((l, i) => <div key={i} className="flex"><Cell line={l} onLine={onLine} /></div>)}</div>;
}

/** What goes at the left, what comes at the right. */
function Apart({ lines, onLine }: { readonly lines: readonly DiffLine[]; readonly onLine: OnLine }): ReactNode {
  return (
    <div data-testid="split" className="min-w-full font-mono text-xs leading-5">
      {pairsOf(lines).map((p, i) => (
        <div key={i} className="flex divide-x divide-line">
          {p.from?.kind === "@" ? <Cell line={p.from} onLine={undefined} /> : <><Cell line={p.from} onLine={p.to === p.from ? undefined : onLine} side="from" /><Cell line={p.to} onLine={onLine} side="to" /></>}
        </div>
      ))}
    </div>
  );
}

/** One change of a file; of a long one the beginning. Without its head where that is said already. */
export const EditView = memo(function EditView({ edit, limit = 24, split = false, blanks = false, head = true, onLine }: { readonly edit: Edit; readonly limit?: number; readonly split?: boolean; readonly blanks?: boolean; readonly head?: boolean; readonly onLine?: (l: DiffLine) => void }): ReactNode {
  const lines = useMemo(() => linesOf(edit, blanks), [edit, blanks]);
  const counts = useMemo(() => countOf(lines), [lines]);
  const [open, setOpen] = useState(false);
  const shown = open ? lines : lines.slice(0, limit);
  const Rows = split ? Apart : Together;
  return (
    <div className="overflow-hidden rounded-lg border border-line bg-panel">
      {head && (
        <div className="flex items-center justify-between gap-3 border-b border-line bg-ground px-3 py-1.5">
          <span className="min-w-0 font-mono text-xs [overflow-wrap:anywhere]">{plain(edit.path)}</span>
          <Counts {...counts} />
        </div>
      )}
      <div tabIndex={0} role="group" aria-label={edit.path} className="max-h-[28rem] overflow-auto py-1"><Rows lines={shown} onLine={onLine} /></div>
      {lines.length > limit && <div className="border-t border-line px-2 py-1"><Button size="sm" tone="quiet" onClick={() => setOpen(!open)}>{open ? t("less") : t("diff.more", { n: lines.length - limit })}</Button></div>}
    </div>
  );
});
