import type { HarnessToolCall } from "harness-client";
import { memo, type ReactNode, useMemo, useState } from "react";

import { ToolIcon } from "../../approval/tool-icon";
import { countOf, editsOf, linesOf } from "../../data/edits";
import { plain } from "../../data/plain";
import { subjectOf, toolKind } from "../../data/risk";
import { t } from "../../i18n";
import { Output } from "../../ui/ansi";
import { Counts, EditView } from "../../ui/diff";
import * as I from "../../ui/icons";
import { Json } from "../../ui/json";
import { Chip } from "../../ui/status";

/** One call, or several that only look, in a line with their names. */
export const ToolRow = memo(
  function ToolRow({ calls }: { readonly calls: readonly HarnessToolCall[] }): ReactNode {
    if (calls.length === 1) return <Call call={calls[0]!} />;
    return <Looks calls={calls} />;
  },
  (a, b) => a.calls.length === b.calls.length && a.calls.every((c, i) => c === b.calls[i]),
);

function Looks({ calls }: { readonly calls: readonly HarnessToolCall[] }): ReactNode {
  const [open, setOpen] = useState(false);
  return (
    <div className="rounded-xl border border-line bg-panel">
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)} className="flex w-full items-center gap-2 px-3 py-2 text-start text-sm">
        <span className="text-faint"><I.Eye size={14} /></span>
        <span className="shrink-0 font-medium">{t("tool.looked", { n: calls.length })}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-xs text-quiet">{calls.map((c) => subjectOf(c.name, c.input) || c.name).join("  ")}</span>
        {open ? <I.Up size={12} /> : <I.Down size={12} />}
      </button>
      {open && <div className="space-y-1.5 border-t border-line p-2">{calls.map((c) => <Call key={c.id} call={c} />)}</div>}
    </div>
  );
}

function Call({ call }: { readonly call: HarnessToolCall }): ReactNode {
  const kind = toolKind(call.name);
  const edits = useMemo(() => editsOf(call.name, call.input), [call.name, call.input]);
  const counts = useMemo(() => edits.reduce((n, e) => { const c = countOf(linesOf(e)); return { plus: n.plus + c.plus, minus: n.minus + c.minus }; }, { plus: 0, minus: 0 }), [edits]);
  const failed = call.status === "error" || call.status === "denied";
  const [wish, setWish] = useState<boolean>();
  const body = edits.length > 0 || (call.output ?? "") !== "" || call.input !== undefined;
  const waits = call.status === "awaiting-approval"; // then the card below has all of it
  const open = wish ?? (!waits && (failed || kind === "edit" || (kind === "run" && (call.output ?? "") !== "")));
  const subject = subjectOf(call.name, call.input);
  return (
    <div data-tool={call.name} data-status={call.status} className={`overflow-hidden rounded-xl border bg-panel ${waits ? "border-warn" : failed ? "border-bad" : "border-line"}`}>
      <button type="button" aria-expanded={open} disabled={!body} onClick={() => setWish(!open)} className="flex w-full items-center gap-2 px-3 py-2 text-start text-sm">
        <span className={call.status === "running" ? "breathe text-run" : "text-faint"}><ToolIcon tool={call.name} /></span>
        <span className="shrink-0 font-mono text-xs font-semibold">{call.name}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-xs text-quiet" title={subject}>{plain(subject.split("\n")[0]!)}</span>
        {edits.length > 0 && <Counts {...counts} />}
        <Outcome status={call.status} />
      </button>
      {open && body && (
        <div className="space-y-2 border-t border-line p-2.5">
          {edits.map((e, i) => <EditView key={i} edit={e} limit={14} head={edits.length > 1} />)}
          {kind === "run" && subject.includes("\n") && <pre className="rounded-lg bg-sunken px-3 py-2 font-mono text-xs whitespace-pre-wrap">{subject}</pre>}
          {(call.output ?? "") !== "" && (edits.length === 0 || failed) && <Output text={call.output!} />}
          {call.outputBytes !== undefined && call.output !== undefined && call.outputBytes > call.output.length + 64 && <p className="px-1 text-xs text-faint">{t("tool.cut", { n: call.outputBytes })}</p>}
          {(call.output ?? "") === "" && edits.length === 0 && call.input !== undefined && <div className="px-1"><Json value={call.input} /></div>}
        </div>
      )}
    </div>
  );
}

function Outcome({ status }: { readonly status: HarnessToolCall["status"] }): ReactNode {
  switch (status) {
    case "running":
      return <Chip tone="run">{t("tool.running")}</Chip>;
    case "awaiting-approval":
      return <Chip tone="warn">{t("tool.waits")}</Chip>;
    case "complete":
      return <span title={t("tool.ok")} className="text-ok"><I.Check size={13} /><span className="sr-only">{t("tool.ok")}</span></span>;
    case "denied":
      return <Chip tone="warn">{t("tool.denied")}</Chip>;
    case "error":
      return <Chip tone="bad">{t("tool.error")}</Chip>;
  }
}
