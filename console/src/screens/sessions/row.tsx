import { memo, type ReactNode } from "react";
import { Link } from "wouter";

import type { Approval } from "../../data/api";
import { useKeyNames } from "../../data/bindings";
import { useKeys } from "../../data/keys";
import { isStuck, type Row, scores } from "../../data/lobby";
import { titleOf } from "../../data/notices";
import { isGrave, subjectOf, toolKind } from "../../data/risk";
import { useSeen } from "../../data/seen";
import { t } from "../../i18n";
import { Button } from "../../ui/controls";
import { Counts } from "../../ui/diff";
import * as I from "../../ui/icons";
import { Chip, Score, StatusGlyph, statusText } from "../../ui/status";
import { Sparkline } from "../../ui/surface";
import { Ago, money } from "../../ui/time";

/** What a session does or waits for, in words. */
export function doing(row: Row, approval?: Approval): ReactNode {
  if (row.status === "awaiting_approval") {
    const tool = approval?.tool_name ?? row.activity?.tool, input = approval?.input ?? row.activity?.input;
    if (tool === undefined) return t("doing.asks");
    const said = approval?.description ?? "";
    return <><span className="font-medium text-warn">{t("doing.asks")}</span> {tool === "health_policy" ? t("doing.limit") : said !== "" ? said : <><span className="font-mono">{tool}</span> {subjectOf(tool, input)}</>}</>;
  }
  if (row.status === "running" || row.status === "recovering" || row.status === "queued") {
    const a = row.activity;
    if (row.status === "queued" && row.queue_position !== undefined) return t("doing.inline", { n: row.queue_position });
    if (isStuck(row)) return <span className="text-bad">{t("doing.stuck")}</span>;
    if (a?.doing === "tool") return <><span className="font-mono">{a.tool}</span> <span>{subjectOf(a.tool ?? "", a.input)}</span></>;
    if (a?.doing === "thinking") return t("doing.thinking");
    if (a?.doing === "writing") return t("doing.writing");
    return statusText(row.status);
  }
  if (row.status === "failed" || row.reason === "error") return <span className="text-bad">{t("doing.failed")}</span>;
  if (row.status === "paused" && row.reason !== undefined && row.reason !== "user") return t("doing.paused", { why: row.reason });
  return row.message_count === 0 ? t("doing.new") : t("doing.messages", { n: row.message_count });
}

/** How many files a session changed, and by how much. */
function Changed({ row: { changes: c } }: { readonly row: Row }): ReactNode {
  if (c === undefined) return null;
  return <><span className="num whitespace-nowrap">{t("changes.files", { n: c.files })}</span> <Counts plus={c.insertions} minus={c.deletions} /></>;
}

export const SessionRow = memo(function SessionRow({ row, approval, selected, below = false, onApprove, parent }: { readonly row: Row; readonly approval?: Approval | undefined; readonly selected: boolean; readonly below?: boolean; readonly onApprove: (a: Approval) => void; readonly parent?: string | undefined }): ReactNode {
  const risky = approval !== undefined && isGrave(approval.input);
  const key = useKeyNames(), seen = useSeen(approval?.request_id);
  useKeys({ approve: () => void (seen && onApprove(approval!)) }, selected && approval !== undefined);
  const folder = row.directory?.split("/").pop();
  return (
    <div role="listitem" data-session={row.session_id} className={`group relative flex h-15 items-center gap-3 rounded-xl pe-3 ${below ? "ps-10" : "ps-3"} ${selected ? "bg-mark-soft" : "hover:bg-panel"}`}>
      <StatusGlyph status={row.status} />
      <div className="min-w-0 flex-1">
        <div className="flex items-center gap-2">
          <Link href={`/s/${encodeURIComponent(row.session_id)}`} className="truncate font-medium after:absolute after:inset-0 after:rounded-xl">{titleOf(row)}</Link>
          {parent !== undefined && <Chip title={t("row.branch", { of: parent })}><I.Branch size={10} /><span className="truncate max-sm:hidden">{parent === "" ? t("row.branched") : parent}</span></Chip>}
          {row.kind === "background" && <Chip>{t("row.background")}</Chip>}
        </div>
        <p className="truncate text-xs text-quiet">{doing(row, approval)}</p>
      </div>
      {approval !== undefined && !risky && toolKind(approval.tool_name) !== "ask" && (
        <Button size="sm" className="relative z-10" disabled={!seen} onClick={() => onApprove(approval)} hotkey={selected ? key("approve") : undefined}><I.Check size={12} />{t("approval.approve")}</Button>
      )}
      {risky && <Chip tone="bad">{t("risk.high")}</Chip>}
      <div className="hidden w-24 items-center justify-end gap-2 text-faint md:flex">
        <Sparkline values={scores.get(row.session_id) ?? []} />
        {row.health !== undefined && <Score score={row.health.score} grade={row.health.grade} />}
      </div>
      <span className="num hidden w-14 text-end text-xs text-faint md:block">{(row.health?.cost_usd ?? 0) > 0 && money(row.health!.cost_usd!)}</span>
      <div className="hidden w-16 shrink-0 flex-col items-end text-xs leading-4 text-faint md:flex"><Changed row={row} /></div>
      <span title={row.directory} className="hidden w-28 truncate text-end text-xs text-faint lg:block">{folder}</span>
      <span className="w-12 shrink-0 text-end text-xs text-faint"><Ago at={row.updated_at} /></span>
    </div>
  );
});

export const SessionCard = memo(function SessionCard({ row, approval }: { readonly row: Row; readonly approval?: Approval | undefined }): ReactNode {
  return (
    <article data-session={row.session_id} className="relative rounded-xl border border-line bg-panel p-3 hover:border-edge">
      <div className="flex items-start gap-2">
        <span className="mt-1"><StatusGlyph status={row.status} /></span>
        <Link href={`/s/${encodeURIComponent(row.session_id)}`} className="line-clamp-2 text-sm font-medium after:absolute after:inset-0">{titleOf(row)}</Link>
      </div>
      <p className="mt-1 line-clamp-2 text-xs break-words text-quiet">{doing(row, approval)}</p>
      <div className="mt-2 flex items-center justify-between text-xs text-faint">
        {row.health !== undefined ? <Score score={row.health.score} grade={row.health.grade} /> : <span />}
        <span className="flex items-center gap-2"><Changed row={row} />{(row.health?.cost_usd ?? 0) > 0 && <span className="num">{money(row.health!.cost_usd!)}</span>}</span>
        <Ago at={row.updated_at} />
      </div>
    </article>
  );
});
