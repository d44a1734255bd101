import { type ReactNode, useEffect, useMemo, useState } from "react";
import { useLocation, useSearch } from "wouter";

import { api, type LogEvent, messageOf, type Snapshot } from "../../data/api";
import { useFeed } from "../../data/feed";
import { useKeys } from "../../data/keys";
import type { Fields } from "../../data/kinds";
import { t } from "../../i18n/more";
import { Button, Choice, IconButton } from "../../ui/controls";
import { CopyButton } from "../../ui/copy";
import * as I from "../../ui/icons";
import { Json } from "../../ui/json";
import { EventList } from "./event-list";
import { useClient, useHarness, useLive } from "./live";

const wanted = { tier: "debug", types: "" } as const;

/** Every event as it is in the log, and the state behind it. */
export default function Inspect({ id, onBranch }: { readonly id: string; readonly onBranch: (from: string) => void }): ReactNode {
  const { row } = useLive();
  const client = useClient();
  useHarness((s) => s.messages);
  const end = Math.max(row?.seq ?? 0, client.seq ?? 0);
  const [, go] = useLocation();
  const asked = new URLSearchParams(useSearch()).get("seq");
  const seq = asked === null ? end : Math.max(1, Math.min(end, Number(asked)));
  const feed = useFeed(id, end, wanted, asked === null ? undefined : seq);
  const [form, setForm] = useState<"diff" | "whole">("diff");
  const event = useMemo(() => feed.events.find((e) => e.seq === seq), [feed.events, seq]);
  const others = useMemo(() => (event === undefined ? [] : together(feed.events, event)), [feed.events, event]);
  const select = (n: number) => {
    const to = Math.max(1, Math.min(end, n));
    go(`/s/${encodeURIComponent(id)}/inspect?seq=${to}`, { replace: true });
    feed.jump(to);
  };
  useKeys({ previousEvent: () => select(seq - 1), nextEvent: () => select(seq + 1), down: () => select(seq + 1), up: () => select(seq - 1), Home: () => select(1), End: () => select(end), branch: () => onBranch(`${id}.${seq}`) });
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex flex-wrap items-center gap-1 border-b border-line bg-panel px-3 py-1.5">
        <IconButton label={t("timeline.first")} onClick={() => select(1)}>«</IconButton>
        <IconButton label={t("past.back")} onClick={() => select(seq - 1)}><I.Back size={14} /></IconButton>
        <input type="range" aria-label={t("past.event")} min={1} max={Math.max(1, end)} value={seq} onChange={(e) => select(Number(e.target.value))} className="h-6 min-w-32 flex-1 accent-[var(--c-mark)]" />
        <IconButton label={t("past.on")} onClick={() => select(seq + 1)}><I.Right size={14} /></IconButton>
        <IconButton label={t("timeline.last")} onClick={() => select(end)}>»</IconButton>
        <span className="num px-2 text-xs text-quiet">{seq} / {end}</span>
        <Button size="sm" tone="quiet" aria-pressed={asked === null} onClick={() => (go(`/s/${encodeURIComponent(id)}/inspect`, { replace: true }), feed.jump(end))}><span aria-hidden="true" className={`size-2 rounded-full ${asked === null ? "bg-ok" : "border border-edge"}`} />{t("timeline.live")}</Button>
        <Button size="sm" onClick={() => go(`/s/${encodeURIComponent(id)}/at/${seq}`)}><I.Clock size={12} />{t("timeline.travel")}</Button>
        <Button size="sm" onClick={() => onBranch(`${id}.${seq}`)}><I.Branch size={12} />{t("past.branch")}</Button>
      </div>
      <div className="grid min-h-0 flex-1 grid-cols-[minmax(0,1fr)] grid-rows-[40%_60%] lg:grid-cols-[minmax(0,5fr)_minmax(0,7fr)] lg:grid-rows-1">
        <EventList feed={feed} end={end} selected={seq} onSelect={select} />
        <div className="min-h-0 border-line max-lg:overflow-y-auto max-lg:border-t lg:grid lg:grid-rows-2 lg:border-s">
          <section aria-label={t("inspect.payload")} className="overflow-auto p-4 lg:min-h-0" tabIndex={0}>
            {event !== undefined && <Payload event={event} others={others} onSelect={select} />}
          </section>
          <section aria-label={t("inspect.state")} className="overflow-auto border-t border-line p-4 lg:min-h-0" tabIndex={0}>
            <div className="mb-2 flex items-center justify-between"><h2 className="text-2xs font-semibold tracking-wider text-faint uppercase">{t("inspect.state.at", { n: seq })}</h2>
              <Choice label={t("inspect.state")} value={form} onChange={setForm} options={[{ value: "diff", label: t("inspect.diff") }, { value: "whole", label: t("inspect.whole") }]} />
            </div>
            <StateAt id={id} seq={seq} form={form} />
          </section>
        </div>
      </div>
    </div>
  );
}

/** The events at hand that are about the same call or question. */
function together(events: readonly LogEvent[], e: LogEvent): readonly LogEvent[] {
  const of = (x: LogEvent) => ["tool_call_id", "request_id", "agent_id"].flatMap((k) => ((x.payload as Fields | null)?.[k] as string | undefined) ?? []);
  const about = of(e);
  return about.length === 0 ? [] : events.filter((x) => x !== e && x.turn_id === e.turn_id && of(x).some((k) => about.includes(k))).slice(0, 12);
}

function Payload({ event: e, others, onSelect }: { readonly event: LogEvent; readonly others: readonly LogEvent[]; readonly onSelect: (seq: number) => void }): ReactNode {
  const text = JSON.stringify(e, null, 2);
  return (
    <>
      <div className="mb-2 flex items-center gap-2">
        <h2 data-user className="font-mono text-sm font-semibold">{e.type}</h2>
        <span className="text-xs text-faint">{e.tier}</span>
        <span className="flex-1" />
        <span className="num text-xs text-faint">{new Date(e.ts).toISOString()}</span>
        <CopyButton text={text} />
      </div>
      <Json value={e.payload} />
      {others.length > 0 && (
        <p className="mt-3 flex flex-wrap items-baseline gap-x-3 gap-y-1 text-2xs text-faint">
          {t("inspect.together")}
          {others.map((o) => <button key={o.seq} type="button" data-user onClick={() => onSelect(o.seq)} className="font-mono text-mark hover:underline">{o.seq} {o.type}</button>)}
        </p>
      )}
      <dl className="mt-3 grid grid-cols-[auto_1fr] gap-x-3 font-mono text-2xs text-faint">
        <dt data-user>id</dt><dd className="truncate">{e.id}</dd>
        {e.turn_id !== undefined && <><dt data-user>turn</dt><dd className="truncate">{e.turn_id}</dd></>}
      </dl>
    </>
  );
}

function StateAt({ id, seq, form }: { readonly id: string; readonly seq: number; readonly form: "diff" | "whole" }): ReactNode {
  const [got, setGot] = useState<{ readonly seq: number; readonly now: Snapshot; readonly before: Snapshot | undefined }>();
  const [error, setError] = useState("");
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(() => {
      Promise.all([api.state(id, seq, 20, stop.signal), seq > 1 ? api.state(id, seq - 1, 20, stop.signal) : undefined]).then(
        ([now, before]) => (setGot({ seq, now, before }), setError("")),
        (e: unknown) => stop.signal.aborted || setError(messageOf(e)),
      );
    }, 120);
    return () => (clearTimeout(timer), stop.abort());
  }, [id, seq]);
  const changes = useMemo(() => (got === undefined ? [] : compare(got.before ?? {}, got.now)), [got]);
  if (error !== "") return <p className="text-sm text-bad">{error}</p>;
  if (got === undefined) return <p aria-busy="true" className="text-sm text-faint">{t("loading")}</p>;
  if (form === "whole") return <Json value={got.now} />;
  if (changes.length === 0) return <p className="text-sm text-faint">{t("inspect.same")}</p>;
  return (
    <ul className="space-y-1 font-mono text-xs [overflow-wrap:anywhere]">
      {changes.map((c) => (
        <li key={c.path}>
          <span className="text-quiet">{c.path}</span>
          {c.before !== undefined && <span className="ms-2 bg-bad-soft px-1 text-bad">{c.before}</span>}
          {c.now !== undefined && <span className="ms-2 bg-ok-soft px-1 text-ok">{c.now}</span>}
        </li>
      ))}
    </ul>
  );
}

interface Change { readonly path: string; readonly before: string | undefined; readonly now: string | undefined }

/** Where two values differ, by path; what is equal is not looked into. */
export function compare(a: unknown, b: unknown, path = ""): readonly Change[] {
  if (Object.is(a, b)) return [];
  const objects = typeof a === "object" && typeof b === "object" && a !== null && b !== null;
  if (!objects) return [{ path, before: a === undefined ? undefined : short(a), now: b === undefined ? undefined : short(b) }];
  const x = a as Readonly<Record<string, unknown>>, y = b as Readonly<Record<string, unknown>>;
  return [...new Set([...Object.keys(x), ...Object.keys(y)])].flatMap((k) => compare(x[k], y[k], path === "" ? k : `${path}/${k}`)).slice(0, 200);
}

function short(v: unknown): string {
  const s = typeof v === "string" ? v : JSON.stringify(v);
  return s.length > 200 ? `${s.slice(0, 90)} … ${s.slice(-90)}` : s;
}
