import { memo, type ReactNode, useMemo, useState } from "react";

import { countOf, type DiffLine, type Edit, linesOf } from "../data/edits";
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

export function DiffRows({ lines, onLine }: { readonly lines: readonly DiffLine[]; readonly onLine?: ((l: DiffLine) => void) | undefined }): ReactNode {
  return (
    <div className="min-w-full font-mono text-xs leading-5">
      {lines.map((l, i) => (
        <div key={i} className={`group/line flex ${tones[l.kind]}`}>
          <span aria-hidden="true" className="num w-10 shrink-0 pe-2 text-end text-faint select-none">{l.kind === "@" ? "" : (l.to ?? l.from ?? "")}</span>
          <span className={`w-4 shrink-0 select-none ${l.kind === "+" ? "text-ok" : l.kind === "-" ? "text-bad" : ""}`}>{l.kind === " " || l.kind === "@" ? "" : l.kind}</span>
          <span className="min-w-0 flex-1 pe-3 whitespace-pre-wrap [overflow-wrap:anywhere]">{l.text === "" ? " " : plain(l.text)}</span>
          {onLine !== undefined && l.kind !== "@" && (
            <button type="button" onClick={() => onLine(l)} aria-label={t("changes.comment.on", { line: l.to ?? l.from ?? 0 })} className="me-1 hidden rounded px-1.5 text-mark group-hover/line:block hover:bg-mark-soft focus-visible:block">+</button>
          )}
        </div>
      ))}
    </div>
  );
}

/** One change of a file; of a long one the beginning. */
export const EditView = memo(function EditView({ edit, limit = 24, onLine }: { readonly edit: Edit; readonly limit?: number; readonly onLine?: (l: DiffLine) => void }): ReactNode {
  const lines = useMemo(() => linesOf(edit), [edit]);
  const counts = useMemo(() => countOf(lines), [lines]);
  const [open, setOpen] = useState(false);
  const shown = open ? lines : lines.slice(0, limit);
  return (
    <div className="overflow-hidden rounded-lg border border-line bg-panel">
      <div className="flex items-center justify-between gap-3 border-b border-line bg-ground px-3 py-1.5">
        <span className="min-w-0 truncate font-mono text-xs" title={edit.path}>{plain(edit.path)}</span>
        <Counts {...counts} />
      </div>
      <div tabIndex={0} role="group" aria-label={edit.path} className="max-h-[28rem] overflow-auto py-1"><DiffRows lines={shown} onLine={onLine} /></div>
      {lines.length > limit && <div className="border-t border-line px-2 py-1"><Button size="sm" tone="quiet" onClick={() => setOpen(!open)}>{open ? t("less") : t("diff.more", { n: lines.length - limit })}</Button></div>}
    </div>
  );
});
