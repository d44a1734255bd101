import { type ReactNode, useEffect, useMemo, useState } from "react";
import { Link } from "wouter";

import { api, messageOf } from "../../data/api";
import { groupOf, isStuck, lobby, scores } from "../../data/lobby";
import { titleOf } from "../../data/notices";
import { useStore } from "../../data/store";
import { t } from "../../i18n/more";
import * as I from "../../ui/icons";
import { Score, StatusGlyph } from "../../ui/status";
import { Empty, Panel, Sparkline } from "../../ui/surface";
import { Ago, duration, money, number } from "../../ui/time";
import { parse, type Samples, sum } from "./metrics";
import { SpendPanel, spentBy } from "./spend";

const every = 5000;

/** How all of it is: who needs somebody, what it costs, whether the server keeps up. */
export default function CockpitScreen(): ReactNode {
  const { rows } = useStore(lobby);
  const [history, setHistory] = useState<readonly { readonly at: number; readonly samples: Samples }[]>([]);
  const [error, setError] = useState("");
  useEffect(() => {
    let here = true;
    const look = () => {
      if (document.hidden) return;
      api.metrics().then((text) => here && (setHistory((h) => [...h.slice(-59), { at: Date.now(), samples: parse(text) }]), setError("")), (e: unknown) => here && setError(messageOf(e)));
    };
    look();
    const timer = setInterval(look, every);
    return () => ((here = false), clearInterval(timer));
  }, []);
  const list = useMemo(() => [...rows.values()], [rows]);
  const count = (g: string) => list.filter((r) => groupOf(r) === g).length;
  const stuck = list.filter(isStuck).length;
  const worst = useMemo(() => list.filter((r) => r.health !== undefined && (r.health.score < 100 || groupOf(r) === "running" || groupOf(r) === "needs")).sort((a, b) => a.health!.score - b.health!.score || (a.updated_at < b.updated_at ? 1 : -1)).slice(0, 12), [list]);
  const days = useMemo(() => spentBy(list, Date.now()), [list, history]), today = days.at(-1)!.usd;
  const dear = Math.max(...days.map((d) => d.usd));
  const last = history.at(-1)?.samples, first = history[0];
  const rate = last !== undefined && first !== undefined && history.length > 1 ? ((sum(last, "harness_events_total") - sum(first.samples, "harness_events_total")) / (history.at(-1)!.at - first.at)) * 1000 : undefined;
  const rates = history.slice(1).map((h, i) => ((sum(h.samples, "harness_events_total") - sum(history[i]!.samples, "harness_events_total")) / (h.at - history[i]!.at)) * 1000);
  const peak = Math.max(1, ...rates);
  return (
    <>
      <header className="flex h-[53px] items-center gap-2 border-b border-line bg-panel px-4 sm:px-6"><h1 className="text-lg font-semibold tracking-tight">{t("nav.cockpit")}</h1></header>
      <div className="min-h-0 flex-1 overflow-y-auto p-4 sm:px-6" tabIndex={0} role="region" aria-label={t("nav.cockpit")}>
        <div className="mx-auto max-w-6xl space-y-4">
          <dl className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-6">
            <Figure label={t("cockpit.needs")} value={number(count("needs"))} tone={count("needs") > 0 ? "text-warn" : ""} href="/inbox" />
            <Figure label={t("cockpit.running")} value={number(count("running"))} href="/?status=running" />
            <Figure label={t("cockpit.stuck")} value={number(stuck)} tone={stuck > 0 ? "text-bad" : ""} />
            <Figure label={t("cockpit.failed")} value={number(count("failed"))} tone={count("failed") > 0 ? "text-bad" : ""} href="/?status=failed" />
            <Figure label={t("cockpit.spent")} value={money(today)} hint={dear > 0 ? <Sparkline values={days.map((d) => (d.usd / dear) * 100)} className="text-mark" /> : undefined} />
            <Figure label={t("cockpit.rate")} value={rate === undefined ? "–" : number(Math.round(rate * 10) / 10)} hint={<Sparkline values={rates.map((r) => (r / peak) * 100)} className="text-mark" />} />
          </dl>
          <div className="grid grid-cols-[minmax(0,1fr)] gap-4 lg:grid-cols-[minmax(0,1fr)_20rem]">
            <div className="space-y-4">
            <SpendPanel days={days} />
            <Panel title={t("cockpit.worst")}>
              {worst.length === 0 ? <Empty icon={<I.Heart size={20} />} title={t("cockpit.fine")} /> : (
                <ul className="-mx-2">
                  {worst.map((r) => (
                    <li key={r.session_id} data-session={r.session_id} className="relative flex items-center gap-3 rounded-lg px-2 py-2 hover:bg-ground">
                      <StatusGlyph status={r.status} />
                      <Link href={`/s/${encodeURIComponent(r.session_id)}`} className="min-w-0 flex-1 truncate text-sm after:absolute after:inset-0">{titleOf(r)}</Link>
                      <span className="text-faint"><Sparkline values={scores.get(r.session_id) ?? []} /></span>
                      <div aria-hidden="true" className="h-1.5 w-28 overflow-hidden rounded-full bg-sunken max-sm:hidden"><div className={`h-full rounded-full ${r.health!.grade === "healthy" ? "bg-ok" : r.health!.grade === "critical" ? "bg-bad" : "bg-warn"}`} style={{ width: `${r.health!.score}%` }} /></div>
                      <span className="w-12 text-end"><Score score={r.health!.score} grade={r.health!.grade} /></span>
                      <span className="w-10 text-end text-xs text-faint"><Ago at={r.updated_at} /></span>
                    </li>
                  ))}
                </ul>
              )}
            </Panel>
            </div>
            <Panel title={t("cockpit.server")} className="self-start">
              {error !== "" ? <p className="text-sm text-quiet">{error === "HTTP 403" ? t("cockpit.forbidden") : error}</p> : last === undefined ? <p aria-busy="true" className="text-sm text-faint">{t("loading")}</p> : (
                <dl className="space-y-1.5 text-sm">
                  <Fact name={t("cockpit.awake")} value={number(sum(last, "harness_sessions_awake"))} />
                  <Fact name={t("cockpit.watchers")} value={number(sum(last, "harness_watchers"))} />
                  <Fact name={t("cockpit.processes")} value={number(sum(last, "harness_processes"))} />
                  <Fact name={t("cockpit.commit")} value={duration(quantile(last, 0.99) * 1000)} />
                  <Fact name={t("cockpit.failures")} value={number(sum(last, "harness_commit_failures_total"))} />
                  <Fact name={t("cockpit.memory")} value={t("cockpit.mb", { n: Math.round(sum(last, "process_resident_memory_bytes") / 1e6) })} />
                  <Fact name={t("cockpit.turns")} value={number(sum(last, "harness_turns_total"))} />
                  <Fact name={t("cockpit.tripped")} value={number(sum(last, "harness_budgets_tripped_total"))} />
                  <Fact name={t("cockpit.since")} value={money(sum(last, "harness_model_cost_usd_total"))} />
                  <Fact name={t("cockpit.tokens")} value={number(sum(last, "harness_model_tokens_total"))} />
                </dl>
              )}
            </Panel>
          </div>
        </div>
      </div>
    </>
  );
}

function Figure({ label, value, hint, tone = "", href }: { readonly label: string; readonly value: string; readonly hint?: ReactNode; readonly tone?: string; readonly href?: string }): ReactNode {
  return (
    <div className="relative rounded-xl border border-line bg-panel px-4 py-3">
      <dt className="text-xs text-quiet">{href === undefined ? label : <Link href={href} className="after:absolute after:inset-0 hover:underline">{label}</Link>}</dt>
      <dd className={`num text-xl font-semibold tracking-tight ${tone}`}>{value}</dd>
      {hint !== undefined && <dd className="text-2xs text-faint">{hint}</dd>}
    </div>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }): ReactNode {
  return <div className="flex justify-between gap-4"><dt className="text-quiet">{name}</dt><dd className="num whitespace-nowrap">{value}</dd></div>;
}

/** Below which value so many of the commits were, in seconds, from a histogram's steps. */
function quantile(samples: Samples, q: number): number {
  const steps = [...samples].filter((s) => s.name === "harness_commit_seconds_bucket").map((s) => ({ le: s.labels["le"] === "+Inf" ? Infinity : Number(s.labels["le"]), n: s.value })).sort((a, b) => a.le - b.le);
  const all = steps.at(-1)?.n ?? 0;
  const step = steps.find((s) => s.n >= all * q);
  return step === undefined || step.le === Infinity ? (steps.at(-2)?.le ?? 0) : step.le;
}
