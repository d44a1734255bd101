import { type ReactNode, useMemo } from "react";
import { Link } from "wouter";

import { api, type Detail } from "../../data/api";
import { fold, kindOf } from "../../data/kinds";
import { useLatest } from "../../data/latest";
import { numbered } from "../../data/plain";
import { setPrefs, usePref } from "../../data/prefs";
import { t } from "../../i18n/more";
import * as I from "../../ui/icons";
import { Chip, Score, StatusGlyph } from "../../ui/status";
import { Meter } from "../../ui/surface";
import { Ago, money, number, spell } from "../../ui/time";
import { useLive } from "./live";

/** What goes with the conversation: how the session is, what it may spend, where one can go back to. */
export default function Side({ onBranch }: { readonly onBranch: (from: string) => void }): ReactNode {
  return <aside aria-label={t("session.side")} className="w-80 shrink-0 overflow-y-auto border-s border-line bg-panel" tabIndex={0}><SideBody onBranch={onBranch} /></aside>;
}

export function SideBody({ onBranch }: { readonly onBranch: (from: string) => void }): ReactNode {
  const { detail, stale, id } = useLive();
  if (detail === undefined) return <p aria-busy="true" className="px-4 py-3.5 text-sm text-faint">{t("loading")}</p>;
  return (
        <div data-stale={stale || undefined} aria-busy={stale} className="divide-y divide-line">
          {stale && <p className="sticky top-0 z-10 bg-panel px-4 py-1 text-2xs text-quiet">{t("side.stale")}</p>}
          <HealthPart detail={detail} />
          <Plan detail={detail} />
          {detail.subagents.length > 0 && (
            <Part title={t("side.subagents")}>
              <ul className="space-y-1.5">
                {detail.subagents.map((a) => (
                  <li key={a.agent_id} className="flex items-start gap-2 text-sm">
                    <span className="mt-1"><StatusGlyph status={a.status === "completed" ? "completed" : a.status === "failed" ? "failed" : a.status === "cancelled" ? "cancelled" : "running"} /></span>
                    <span className="min-w-0">
                      {a.agent_id.startsWith("ses_") ? <Link href={`/s/${a.agent_id}`} className="block truncate font-medium hover:underline">{a.task ?? a.agent_id}</Link> : <span className="block truncate font-medium">{a.task ?? a.agent_id}</span>}
                      <span className="line-clamp-2 text-xs text-quiet">{a.summary ?? a.status}</span>
                    </span>
                  </li>
                ))}
              </ul>
            </Part>
          )}
          {detail.checkpoints.length > 0 && (
            <Part title={t("side.checkpoints")}>
              <ul className="space-y-0.5">
                {detail.checkpoints.slice(0, 6).map((c) => (
                  <li key={c.event_id} className="group/cp flex items-center gap-2 text-sm">
                    <I.Flag size={12} className="text-faint" />
                    <Link href={`/s/${encodeURIComponent(id)}/at/${c.seq}`} className="min-w-0 flex-1 truncate text-quiet hover:text-ink hover:underline" title={c.summary_text}>{c.summary_text === "" ? c.checkpoint_type : numbered(c.summary_text)}</Link>
                    <button type="button" onClick={() => onBranch(`${id}.${c.seq}`)} className="text-xs text-mark opacity-0 group-hover/cp:opacity-100 focus-visible:opacity-100">{t("branch.short")}</button>
                    <span className="num text-2xs text-faint">#{c.seq}</span>
                  </li>
                ))}
              </ul>
            </Part>
          )}
          <LacksPart detail={detail} />
          <Recent id={id} seq={detail.seq} />
        </div>
  );
}

function Part({ title, aside, children }: { readonly title: string; readonly aside?: ReactNode; readonly children: ReactNode }): ReactNode {
  return (
    <section className="px-4 py-3.5">
      <div className="mb-2 flex items-center justify-between"><h2 className="text-2xs font-semibold tracking-wider text-faint uppercase">{title}</h2>{aside}</div>
      {children}
    </section>
  );
}

function HealthPart({ detail }: { readonly detail: Detail }): ReactNode {
  const h = detail.health;
  if (h === undefined) return null;
  const b = h.budget;
  const of = (used: string, limit: number | null, show: (n: number) => string) => (limit === null ? used : `${used} / ${show(limit)}`);
  return (
    <Part title={t("side.health")} aside={<Score score={h.score} grade={h.grade} />}>
      {h.flags.length > 0 && (
        <ul className="mb-2 space-y-1.5">
          {h.flags.map((f) => (
            <li key={f.code} className="flex items-start gap-1.5 text-xs">
              <span className={`mt-0.5 ${f.severity === "critical" ? "text-bad" : f.severity === "warn" ? "text-warn" : "text-faint"}`}><I.Warning size={12} /></span>
              <span data-user className="text-quiet">{f.message}</span>
            </li>
          ))}
        </ul>
      )}
      <Meter label={t("budget.tokens")} ratio={b.total_tokens.ratio} text={of(number(b.total_tokens.used), b.total_tokens.limit, number)} />
      <Meter label={t("budget.cost")} ratio={b.cost_usd.ratio} text={b.cost_usd.unknown === true && b.cost_usd.used === 0 ? t("budget.unknown") : of(money(b.cost_usd.used), b.cost_usd.limit, money)} />
      <Meter label={t("budget.time")} ratio={b.runtime_minutes.ratio} text={of(spell(b.runtime_minutes.used), b.runtime_minutes.limit, (n) => t("time.min", { n }))} />
      <Meter label={t("budget.context")} ratio={b.context_usage_pct.unknown === true ? null : b.context_usage_pct.used / 100} text={b.context_usage_pct.unknown === true ? t("budget.unknown") : `${Math.round(b.context_usage_pct.used)} %`} />
      {h.policy.health.action !== undefined && h.policy.health.action !== "" && <p className="mt-1 text-xs text-faint">{h.policy.health.action === "pause" ? t("budget.pauses") : t("budget.asks")}</p>}
      {h.recovery_hint.action !== "none" && <p data-user className="mt-2 rounded-lg bg-warn-soft px-2.5 py-1.5 text-xs text-warn">{h.recovery_hint.text}</p>}
    </Part>
  );
}

/** What the session's engine cannot show or do; nothing is made up for it. */
function LacksPart({ detail }: { readonly detail: Detail }): ReactNode {
  const { commands = [], settings = [], events = [] } = detail.lacks ?? {};
  if (commands.length + settings.length + events.length === 0) return null;
  return (
    <Part title={t("side.lacks")}>
      <dl data-testid="lacks" className="space-y-1.5 text-xs">
        {([["side.lacks.commands", commands], ["side.lacks.settings", settings], ["side.lacks.events", events]] as const).map(([name, list]) => list.length > 0 && (
          <div key={name}><dt className="text-quiet">{t(name)}</dt><dd className="font-mono text-2xs text-faint [overflow-wrap:anywhere]">{list.join(", ")}</dd></div>
        ))}
      </dl>
    </Part>
  );
}

interface Step { readonly index: number; readonly total: number; readonly title: string; readonly status: string }

/** The plan, from the session's own steps. */
function Plan({ detail }: { readonly detail: Detail }): ReactNode {
  const { session_id: id, seq } = detail;
  const { value: page } = useLatest(id, seq, (stop) => api.events(id, { types: "step_progress", after: Math.max(0, seq - 20_000), limit: 200 }, stop), String(seq));
  const steps = useMemo(() => {
    const byIndex = new Map<number, Step>();
    for (const e of page?.events ?? []) {
      const s = e.payload as Step;
      if (s.index === 1 && s.status === "pending") byIndex.clear();
      byIndex.set(s.index, s);
    }
    const list = [...byIndex.values()].sort((a, b) => a.index - b.index);
    return list.slice(0, list.at(-1)?.total ?? list.length);
  }, [page]);
  if (steps.length === 0) return null;
  const done = steps.filter((s) => s.status === "completed").length;
  return (
    <Part title={t("side.plan")} aside={<span className="num text-xs text-quiet">{done}/{steps.length}</span>}>
      <ol className="space-y-1">
        {steps.map((s) => (
          <li key={s.index} className={`flex items-start gap-2 text-sm ${s.status === "completed" ? "text-faint" : ""}`}>
            <span className="mt-1"><StatusGlyph status={s.status === "completed" ? "completed" : s.status === "in_progress" ? "running" : s.status === "failed" ? "failed" : "idle"} size={11} /></span>
            <span className={s.status === "completed" ? "line-through decoration-edge" : ""}>{s.title}</span>
          </li>
        ))}
      </ol>
    </Part>
  );
}

/** The last events, with a way to each. */
function Recent({ id, seq }: { readonly id: string; readonly seq: number }): ReactNode {
  const debug = usePref("debug");
  const tier = debug ? "debug" : "default";
  const { value: page, stale } = useLatest(`${id} ${tier}`, seq, (stop) => api.events(id, { after: Math.max(0, seq - 150), limit: 200, tier }, stop), String(seq));
  const events = page?.events ?? [];
  const rows = fold(events).slice(-12).reverse();
  return (
    <Part title={t("side.events")} aside={<button type="button" aria-pressed={debug} onClick={() => setPrefs({ debug: !debug })} className={`rounded px-1.5 text-2xs ${debug ? "bg-mark-soft text-mark" : "text-faint hover:text-ink"}`}>{t("side.debug")}</button>}>
      <ol data-stale={stale || undefined} aria-busy={stale || page === undefined} className="space-y-px">
        {rows.map((r) => {
          const tone = kindOf(r.event.type).tone?.((r.event.payload ?? {}) as Readonly<Record<string, unknown>>);
          return (
            <li key={r.event.seq}>
              <Link href={`/s/${encodeURIComponent(id)}/inspect?seq=${r.last.seq}`} className="flex items-baseline gap-2 rounded px-1 py-0.5 text-xs hover:bg-sunken">
                <span className={`num shrink-0 text-end text-2xs text-faint ${seq > 99_999 ? "w-11" : "w-9"}`}>{r.last.seq}</span>
                <span className={`shrink-0 font-mono text-2xs ${tone === "bad" ? "text-bad" : tone === "warn" ? "text-warn" : tone === "ok" ? "text-ok" : "text-quiet"}`}>{r.event.type}</span>
                <span className="truncate text-faint">{r.text}</span>
              </Link>
            </li>
          );
        })}
      </ol>
      {events.length > 0 && <p className="mt-1.5 flex justify-between px-1 text-2xs text-faint"><Chip>{t("side.count", { n: seq })}</Chip><Ago at={events.at(-1)!.ts} /></p>}
    </Part>
  );
}
