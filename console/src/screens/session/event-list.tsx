import { memo, type ReactNode, useCallback, useEffect, useLayoutEffect, useMemo, useRef } from "react";

import { type Entry, type Fields, fold, kindOf } from "../../data/kinds";
import type { useFeed } from "../../data/feed";
import { t } from "../../i18n/more";
import { Button } from "../../ui/controls";
import { KnownList, type ListHandle } from "../../ui/list";
import { duration } from "../../ui/time";
import { useLive } from "./live";

const height = 28;

/** From when on the time of a session is counted. */
export function useBegan(feed: ReturnType<typeof useFeed>): number {
  const { row, detail } = useLive();
  const first = Date.parse(feed.events[0]?.ts ?? ""), made = Date.parse(row?.created_at ?? detail?.created_at ?? "");
  return feed.from > 0 && made < first ? made : first; // a branch has events from before it
}

/** Rows of the log around a place; it grows where somebody scrolls. */
export function EventList({ feed, end, selected, onSelect }: { readonly feed: ReturnType<typeof useFeed>; readonly end: number; readonly selected: number | undefined; readonly onSelect: (seq: number) => void }): ReactNode {
  const rows = useMemo(() => fold(feed.events), [feed.events]);
  const list = useRef<ListHandle>(null);
  const began = useBegan(feed);
  const index = selected === undefined ? -1 : rows.findIndex((r) => selected >= r.event.seq && selected <= r.last.seq);
  const goal = useMemo(() => (index < 0 ? undefined : { index }), [selected, index < 0]);

  // What comes in above does not move what is read.
  const before = useRef<{ readonly first: number; readonly goal: typeof goal }>({ first: 0, goal: undefined });
  useLayoutEffect(() => {
    const el = list.current?.element;
    const first = rows[0]?.event.seq ?? 0;
    if (el !== null && el !== undefined && first < before.current.first && goal === before.current.goal) {
      const at = rows.findIndex((r) => r.event.seq >= before.current.first);
      if (at > 0) el.scrollTop += at * height;
    }
    before.current = { first, goal };
  }, [rows, goal]);

  const { earlier, later, loading, to } = feed;
  // Only where somebody is when all scrolling has settled.
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const onRange = useCallback(() => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      const el = list.current?.element;
      if (loading || rows.length === 0 || el === null || el === undefined) return;
      if (el.scrollTop < 5 * height && feed.from > 0) earlier();
      else if (el.scrollHeight - el.scrollTop - el.clientHeight < 5 * height && to < end) later();
    }, 60);
  }, [earlier, later, loading, rows.length, feed.from, to, end]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      {feed.from > 0 && <Gap text={t("timeline.earlier", { n: feed.from })} onLoad={earlier} busy={loading} />}
      <KnownList
        handle={list}
        role="grid"
        label={t("timeline.events")}
        className="min-h-0 flex-1 py-1"
        count={rows.length}
        height={height}
        follow={to >= end && selected === undefined}
        goal={goal}
        onRange={onRange}
        row={(i) => <Line key={rows[i]!.event.seq} entry={rows[i]!} index={i} began={began} selected={i === index} onSelect={onSelect} />}
      />
      {to < end && rows.length > 0 && <Gap text={t("timeline.later", { n: end - to })} onLoad={later} busy={loading} />}
    </div>
  );
}

function Gap({ text, onLoad, busy }: { readonly text: string; readonly onLoad: () => void; readonly busy: boolean }): ReactNode {
  return <div className="flex items-center justify-center gap-2 border-y border-line bg-ground py-0.5 text-xs text-faint">{text}<Button size="sm" tone="quiet" disabled={busy} onClick={onLoad}>{t("timeline.load")}</Button></div>;
}

const tones = { bad: "text-bad", warn: "text-warn", ok: "text-ok" };
const lanes = { model: "bg-mark", tool: "bg-run", wait: "bg-warn", session: "bg-edge", debug: "bg-line" };

const Line = memo(function Line({ entry: r, index, began, selected, onSelect }: { readonly entry: Entry; readonly index: number; readonly began: number; readonly selected: boolean; readonly onSelect: (seq: number) => void }): ReactNode {
  const kind = kindOf(r.event.type);
  const payload = (r.event.payload ?? {}) as Fields;
  const tone = kind.tone?.(payload);
  const took = r.event.type === "tool_outcome" ? Number(payload["elapsed_ms"]) : r.count > 1 ? Date.parse(r.last.ts) - Date.parse(r.event.ts) : undefined;
  return (
    <div role="row" aria-rowindex={index + 1} aria-selected={selected} data-seq={r.event.seq} onClick={() => onSelect(r.last.seq)} className={`flex h-7 cursor-pointer items-center gap-2.5 px-4 text-xs ${selected ? "bg-mark-soft" : "hover:bg-panel"}`}>
      <span role="gridcell" className="num min-w-9 shrink-0 text-end text-faint sm:min-w-12">{r.last.seq}</span>
      <span role="gridcell" className="num w-16 shrink-0 text-end text-faint max-sm:hidden">+{duration(Date.parse(r.event.ts) - began)}</span>
      <span aria-hidden="true" className={`h-3.5 w-1 shrink-0 rounded-full ${lanes[kind.lane]}`} />
      <span role="gridcell" className={`w-28 shrink-0 truncate font-mono text-2xs sm:w-36 ${tone === undefined ? "text-quiet" : tones[tone]} ${r.event.tier === "debug" ? "italic" : ""}`}>{r.event.type}{r.count > 1 && <span className="text-faint"> ×{r.count}</span>}</span>
      <span role="gridcell" className="min-w-0 flex-1 truncate">{r.text}</span>
      {took !== undefined && Number.isFinite(took) && <span role="gridcell" className="num shrink-0 text-faint max-sm:hidden">{duration(took)}</span>}
    </div>
  );
});
