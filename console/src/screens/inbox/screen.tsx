import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { Link, useLocation, useSearch } from "wouter";

import { type Answer, answer, ApprovalCard } from "../../approval/card";
import { What } from "../../approval/what";
import { type Approval, messageOf } from "../../data/api";
import { approvals } from "../../data/approvals";
import { useKeyNames } from "../../data/bindings";
import { riskOf } from "../../data/harm";
import { useKeys } from "../../data/keys";
import { isStuck, lobby, type Row } from "../../data/lobby";
import { titleOf } from "../../data/notices";
import { plain } from "../../data/plain";
import { subjectOf, toolKind } from "../../data/risk";
import { useSeen } from "../../data/seen";
import { useStore } from "../../data/store";
import { toast } from "../../data/toasts";
import { t } from "../../i18n/more";
import { Button, Choice } from "../../ui/controls";
import * as I from "../../ui/icons";
import { Chip, Score, StatusGlyph } from "../../ui/status";
import { Dialog, Empty } from "../../ui/surface";
import { Ago } from "../../ui/time";

/** How long an answered card stays, so that no other slides under a pressed key. */
const stays = 5000;

type Shown = Approval & { readonly answered?: Answer };

/** Everything that waits for somebody, over all sessions. Cards never move while they are looked at. */
export default function InboxScreen(): ReactNode {
  const { list, ready } = useStore(approvals);
  const { rows } = useStore(lobby);
  const [, go] = useLocation();
  const low = new URLSearchParams(useSearch()).get("risk") === "low";
  const [shown, setShown] = useState<readonly Shown[]>([]);
  const [at, setAt] = useState<string>();
  const [batch, setBatch] = useState(false);
  const key = useKeyNames();
  const cards = useRef<HTMLDivElement>(null);

  // Answered ones keep their place for a while; new ones wait until somebody wants them, unless nothing is shown.
  const here = useMemo(() => new Set(list.map((a) => a.request_id)), [list]);
  const open = shown.filter((s) => s.answered === undefined && here.has(s.request_id));
  const known = new Set(shown.map((s) => s.request_id));
  const fresh = list.filter((a) => !known.has(a.request_id));
  const take = () => setShown((old) => [...old.filter((s) => here.has(s.request_id)), ...list.filter((a) => !old.some((s) => s.request_id === a.request_id))].sort((a, b) => (a.requested_at < b.requested_at ? -1 : 1)));
  useEffect(() => {
    if (open.length === 0 && fresh.length > 0 && !shown.some((s) => s.answered !== undefined)) take();
  }, [open.length, fresh.length, shown]);
  useEffect(() => {
    const left = shown.filter((s) => s.answered === undefined && !here.has(s.request_id));
    if (left.length === 0) return;
    const timer = setTimeout(() => setShown((old) => old.filter((s) => s.answered !== undefined || here.has(s.request_id))), stays);
    return () => clearTimeout(timer);
  }, [shown, here]);

  const answered = (a: Shown, how: Answer) => {
    setShown((old) => old.map((s) => (s.request_id === a.request_id ? { ...s, answered: how } : s)));
    setTimeout(() => setShown((old) => old.filter((s) => s.request_id !== a.request_id)), stays);
    setAt(undefined);
  };
  const visible = shown.filter((s) => !low || riskOf(s.tool_name, s.input) === "low");
  const active = visible.find((s) => s.request_id === at && s.answered === undefined && here.has(s.request_id)) ?? visible.find((s) => s.answered === undefined && here.has(s.request_id));
  const seen = useSeen(active?.request_id); // one that is next because another was answered
  const move = (n: 1 | -1) => {
    const can = visible.filter((s) => s.answered === undefined && here.has(s.request_id));
    const i = can.findIndex((s) => s.request_id === active?.request_id);
    const next = can[Math.max(0, Math.min(can.length - 1, i + n))];
    if (next === undefined) return;
    setAt(next.request_id);
    cards.current?.querySelector(`[data-approval="${CSS.escape(next.request_id)}"]`)?.scrollIntoView({ block: "nearest" });
  };
  useKeys({
    down: () => move(1),
    up: () => move(-1),
    Enter: (e) => (active === undefined || (e.target as HTMLElement).closest("a, button, input") !== null ? false : go(`/s/${encodeURIComponent(active.session_id)}`)),
  });
  const safe = open.filter((a) => toolKind(a.tool_name) !== "ask" && a.redacted !== true && riskOf(a.tool_name, a.input) === "low");
  const others = useMemo(() => [...rows.values()].filter((r) => r.status !== "awaiting_approval" && (isStuck(r) || r.status === "failed" || (r.status === "idle" && r.reason === "error") || (r.status === "paused" && r.reason !== undefined && r.reason !== "user"))).sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1)).slice(0, 50), [rows]);

  return (
    <>
      <header className="flex min-h-[53px] flex-wrap items-center gap-2 border-b border-line bg-panel px-4 py-2 sm:px-6">
        <h1 className="text-lg font-semibold tracking-tight">{t("nav.inbox")}</h1>
        {open.length > 0 && <Chip tone="warn">{t("nav.waiting", { n: open.length + fresh.length })}</Chip>}
        <span className="flex-1" />
        <Choice label={t("inbox.which")} value={low ? "low" : "all"} onChange={(v) => go(v === "low" ? "/inbox?risk=low" : "/inbox", { replace: true })} options={[{ value: "all", label: t("inbox.all") }, { value: "low", label: t("inbox.low") }]} />
        {safe.length > 1 && <Button size="sm" onClick={() => setBatch(true)}><I.Check size={12} />{t("inbox.batch", { n: safe.length })}</Button>}
      </header>
      <div ref={cards} className="min-h-0 flex-1 overflow-y-auto px-3 py-4 sm:px-6" tabIndex={0} role="region" aria-label={t("nav.inbox")}>
        <div className="mx-auto max-w-3xl space-y-3">
          {fresh.length > 0 && open.length > 0 && <button type="button" onClick={take} className="rise mx-auto block rounded-full border border-edge bg-raised px-3.5 py-1 text-xs font-medium shadow-float">{t("inbox.new", { n: fresh.length })}</button>}
          {open.length > 0 && <p className="hidden text-center text-xs text-faint pointer-coarse:block">{t("inbox.swipe")}</p>}
          {visible.map((a) => {
            const row = rows.get(a.session_id);
            if (a.answered !== undefined || !here.has(a.request_id)) return <Outcome key={a.request_id} asked={a} row={row} />;
            return (
              <div key={a.request_id} onFocus={() => setAt(a.request_id)} onPointerDown={() => setAt(a.request_id)}>
                <ApprovalCard
                  asked={{ ...a, directory: row?.directory }}
                  active={active?.request_id === a.request_id}
                  quiet={!seen && at !== a.request_id}
                  onAnswered={(how) => answered(a, how)}
                  head={<Link href={`/s/${encodeURIComponent(a.session_id)}`} className="min-w-0 truncate text-sm text-quiet hover:text-ink hover:underline">{titleOf(row ?? a)}</Link>}
                />
              </div>
            );
          })}
          {ready && visible.length === 0 && fresh.length === 0 && <Empty icon={<I.Check size={20} />} title={t("inbox.none")}>{t("inbox.none.text")}</Empty>}
          {others.length > 0 && (
            <section aria-label={t("inbox.others")} className="pt-4">
              <h2 className="mb-2 px-1 text-2xs font-semibold tracking-wider text-faint uppercase">{t("inbox.others")}</h2>
              <ul className="divide-y divide-line rounded-xl border border-line bg-panel">
                {others.map((r) => (
                  <li key={r.session_id} data-session={r.session_id} className="relative flex items-center gap-3 px-4 py-2.5 hover:bg-ground">
                    <StatusGlyph status={r.status === "idle" ? "failed" : r.status} />
                    <div className="min-w-0 flex-1">
                      <Link href={`/s/${encodeURIComponent(r.session_id)}`} className="block truncate text-sm font-medium after:absolute after:inset-0">{titleOf(r)}</Link>
                      <p className="truncate text-xs text-quiet">{why(r)}</p>
                    </div>
                    {r.health !== undefined && <Score score={r.health.score} grade={r.health.grade} />}
                    <span className="w-10 text-end text-xs text-faint"><Ago at={r.updated_at} /></span>
                  </li>
                ))}
              </ul>
            </section>
          )}
        </div>
      </div>
      <footer className="hidden items-center gap-4 border-t border-line bg-panel px-6 py-1.5 text-2xs text-faint sm:flex">{t("inbox.keys", { down: key("down") ?? "", up: key("up") ?? "", approve: key("approve") ?? "", always: key("always") ?? "", deny: key("deny") ?? "", say: key("say") ?? "" })}</footer>
      {batch && <Batch list={safe} rows={rows} onClose={() => setBatch(false)} onAnswered={answered} />}
    </>
  );
}

function why(r: Row): string {
  if (r.status === "failed" || r.reason === "error") return t("doing.failed");
  if (r.status === "paused") return t("doing.paused", { why: r.reason ?? "" });
  return t("doing.stuck");
}

function Outcome({ asked, row }: { readonly asked: Shown; readonly row: Row | undefined }): ReactNode {
  const how = asked.answered;
  const text = how === undefined ? t("inbox.elsewhere") : how.decision === "allow" ? t("approval.approved") : t("inbox.denied");
  return (
    <div className="flex items-center gap-3 rounded-xl border border-line px-4 py-3 text-sm text-quiet">
      <span className={how?.decision === "deny" ? "text-bad" : "text-ok"}>{how?.decision === "deny" ? <I.Close size={14} /> : <I.Check size={14} />}</span>
      <span className="font-mono text-xs">{asked.tool_name}</span>
      <span className="line-clamp-2 min-w-0 flex-1 text-xs whitespace-pre-wrap [overflow-wrap:anywhere]">{plain(subjectOf(asked.tool_name, asked.input))} · {titleOf(row)}</span>
      <span>{text}</span>
    </div>
  );
}

/** Approves several that break nothing, after all of them were seen. */
function Batch({ list, rows, onClose, onAnswered }: { readonly list: readonly Shown[]; readonly rows: ReadonlyMap<string, Row>; readonly onClose: () => void; readonly onAnswered: (a: Shown, how: Answer) => void }): ReactNode {
  const [all] = useState(list);
  const approve = () => {
    for (const a of all) answer(a.request_id, { decision: "allow" }).then(() => onAnswered(a, { decision: "allow" }), (e: unknown) => toast(messageOf(e), "bad"));
    onClose();
  };
  return (
    <Dialog title={t("inbox.batch.title")} open onClose={onClose} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button tone="primary" onClick={approve}>{t("inbox.batch", { n: all.length })}</Button></>}>
      <ul data-user className="space-y-1.5">
        {all.map((a) => <li key={a.request_id} className="rounded-lg border border-line px-3 py-2"><p className="text-xs text-faint">{titleOf(rows.get(a.session_id))} · <span className="font-mono">{plain(a.tool_name)}</span></p><div className="mt-1.5 space-y-2"><What input={a.input} description={a.description} /></div></li>)}
      </ul>
    </Dialog>
  );
}
