import { type ReactNode, useCallback, useMemo, useRef } from "react";
import { useLocation, useSearch } from "wouter";

import { useFeed, type Wanted } from "../../data/feed";
import { useKeys } from "../../data/keys";
import { setPrefs, usePref } from "../../data/prefs";
import { t } from "../../i18n/more";
import { Button, Choice, Switch } from "../../ui/controls";
import * as I from "../../ui/icons";
import { Empty } from "../../ui/surface";
import { type Zoom, zooms, zoomsFor } from "./axis";
import { EventList, useBegan } from "./event-list";
import { Lanes } from "./lanes";
import { useClient, useHarness, useLive, useStatus } from "./live";

const choices = { all: "", tools: "tool_call,tool_result,tool_outcome,tool_validation_error", approvals: "approval_required,approval_applied,policy_decision", turns: "user_message,turn_start,turn_end,response,completed,error", problems: "error,tool_validation_error,transport_diagnostic,context_warning" } as const;

/** What happened and when; any place of any log with one request. */
export default function Timeline({ id }: { readonly id: string }): ReactNode {
  const { row } = useLive();
  const client = useClient();
  useHarness((s) => s.messages);
  const end = Math.max(row?.seq ?? 0, client.seq ?? 0);
  const debug = usePref("debug");
  const [, go] = useLocation();
  const search = new URLSearchParams(useSearch());
  const kind = search.get("filter") ?? "", filter = Object.hasOwn(choices, kind) ? (kind as keyof typeof choices) : "all";
  const seq = search.get("seq") === null ? undefined : Number(search.get("seq"));
  const wanted = useMemo<Wanted>(() => ({ tier: debug ? "debug" : "default", types: choices[filter] }), [debug, filter]);
  const feed = useFeed(id, end, wanted, seq);
  const began = useBegan(feed);
  const asked = search.get("zoom") ?? "", zoom = Object.hasOwn(zooms, asked) ? (asked as Zoom) : "fit";
  const offered = useMemo(() => zoomsFor(Date.parse(feed.events.at(-1)?.ts ?? "") - Date.parse(feed.events[0]?.ts ?? "")), [feed.events]);
  const running = useStatus() === "running";
  const path = `/s/${encodeURIComponent(id)}/timeline`;
  const change = (name: string, value: string | undefined) => {
    const next = new URLSearchParams(location.search);
    if (value === undefined) next.delete(name);
    else next.set(name, value);
    go(next.size > 0 ? `${path}?${next}` : path, { replace: true });
  };
  const setZoom = (z: Zoom) => change("zoom", z === "fit" ? undefined : z);
  const closer = (n: 1 | -1) => {
    const to = offered[offered.indexOf(zoom) + n];
    if (to !== undefined) setZoom(to);
  };
  const follow = () => {
    change("seq", undefined);
    feed.jump(end);
  };
  const select = (n: number) => {
    const to = Math.max(1, Math.min(end, n));
    change("seq", String(to));
    feed.jump(to);
  };
  const latest = useRef(select);
  latest.current = select;
  const onSelect = useCallback((n: number) => latest.current(n), []); // the same, so that rows that stay are not made again
  const shown = useRef(seq); // until what was asked for is here, the lanes are as they were
  if (seq === undefined || (seq > feed.from && seq <= feed.to)) shown.current = seq;
  const step = (n: 1 | -1) => {
    const list = feed.events;
    const i = seq === undefined ? (n > 0 ? -1 : list.length) : n > 0 ? list.findLastIndex((e) => e.seq <= seq) : list.findIndex((e) => e.seq >= seq);
    const e = list[i + n];
    if (e !== undefined) select(e.seq);
  };
  useKeys({ zoomIn: () => closer(1), zoomOut: () => closer(-1), previousEvent: () => step(-1), nextEvent: () => step(1), down: () => step(1), up: () => step(-1), Home: () => select(1), End: () => select(end), Enter: () => (seq === undefined ? false : go(`/s/${encodeURIComponent(id)}/inspect?seq=${seq}`)) });
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex flex-wrap items-center gap-2 border-b border-line bg-panel px-4 py-1.5">
        <select aria-label={t("timeline.filter")} value={filter} onChange={(e) => change("filter", e.target.value === "all" ? undefined : e.target.value)} className="h-8 rounded-lg border border-edge bg-panel px-2 text-sm">
          {(Object.keys(choices) as (keyof typeof choices)[]).map((c) => <option key={c} value={c}>{t(`timeline.${c}`)}</option>)}
        </select>
        <form onSubmit={(e) => (e.preventDefault(), select(Number(new FormData(e.currentTarget).get("to"))))} className="flex items-center gap-1">
          <input name="to" type="number" min={1} max={Math.max(1, end)} aria-label={t("timeline.jump")} placeholder={t("timeline.jump")} className="num h-8 w-36 max-sm:w-24 rounded-lg border border-edge bg-panel px-2 text-sm placeholder:text-faint" />
        </form>
        <Button size="sm" tone="quiet" onClick={() => select(1)}>{t("timeline.first")}</Button>
        <Button size="sm" tone="quiet" onClick={() => select(end)}>{t("timeline.last")}</Button>
        <Button size="sm" tone="quiet" aria-pressed={seq === undefined} onClick={follow}><span aria-hidden="true" className={`size-2 rounded-full ${seq === undefined ? "bg-ok" : "border border-edge"}`} />{t("timeline.live")}</Button>
        {offered.length > 1 && <div className="max-sm:hidden"><Choice label={t("timeline.zoom")} value={zoom} onChange={setZoom} options={offered.map((z) => ({ value: z, label: t(`zoom.${z}`) }))} /></div>}
        <span className="flex-1" />
        <span className="num text-xs text-faint">{t("side.count", { n: end })}</span>
        <Switch label={t("side.debug")} checked={debug} onChange={(v) => setPrefs({ debug: v })} />
      </div>
      <Lanes events={feed.events} began={began} zoom={zoom} live={running && feed.to >= end} selected={shown.current} onSelect={onSelect} />
      {feed.error !== "" && <p role="alert" className="bg-bad-soft px-4 py-1.5 text-sm text-bad">{feed.error}</p>}
      {feed.events.length === 0 && !feed.loading ? <Empty icon={<I.Lanes size={20} />} title={t("timeline.none")} /> : <EventList feed={feed} end={end} selected={seq} onSelect={onSelect} />}
      {seq !== undefined && (
        <div className="flex items-center gap-2 border-t border-line bg-panel px-4 py-1.5 text-xs text-quiet">
          <span className="num">{t("timeline.selected", { n: seq })}</span>
          <span className="flex-1" />
          <Button size="sm" onClick={() => go(`/s/${encodeURIComponent(id)}/at/${seq}`)}><I.Clock size={12} />{t("timeline.travel")}</Button>
          <Button size="sm" onClick={() => go(`/s/${encodeURIComponent(id)}/inspect?seq=${seq}`)} hotkey="Enter"><I.Bug size={12} />{t("tab.inspect")}</Button>
        </div>
      )}
    </div>
  );
}
