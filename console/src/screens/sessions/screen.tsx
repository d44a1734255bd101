import { type ReactNode, useCallback, useMemo, useRef, useState } from "react";
import { useLocation, useSearch } from "wouter";

import { type Approval, api, messageOf } from "../../data/api";
import { approvals } from "../../data/approvals";
import { useKeyNames } from "../../data/bindings";
import { useKeys } from "../../data/keys";
import { type Group, groupOf, groups, lobby, type Row } from "../../data/lobby";
import { titleOf } from "../../data/notices";
import { setPrefs, usePref } from "../../data/prefs";
import { isGrave, toolKind } from "../../data/risk";
import { useStore } from "../../data/store";
import { toast } from "../../data/toasts";
import { t } from "../../i18n";
import { openNew } from "../../shell/open";
import { Button, Choice, inputClass } from "../../ui/controls";
import * as I from "../../ui/icons";
import { KnownList, type ListHandle } from "../../ui/list";
import { Empty } from "../../ui/surface";
import { useWide } from "../../ui/wide";
import { SessionCard, SessionRow } from "./row";

type Item = { readonly head: Group; readonly count: number } | { readonly row: Row; readonly below: boolean };

/** All sessions, those that need somebody first. What is looked for is in the address. */
export function SessionsScreen(): ReactNode {
  const { rows, ready } = useStore(lobby);
  const asked = useStore(approvals).list;
  const closed = usePref("closed");
  const [, go] = useLocation();
  const search = new URLSearchParams(useSearch());
  const query = search.get("q") ?? "", status = search.get("status") ?? "", engine = search.get("engine") ?? "", directory = search.get("dir") ?? "";
  const view = search.get("view") === "board" ? "board" : "list";
  const [at, setAt] = useState<string>();
  const list = useRef<ListHandle>(null);
  const key = useKeyNames(), wide = useWide();
  const box = useRef<HTMLInputElement>(null);

  const change = (name: string, value: string) => {
    const next = new URLSearchParams(location.search);
    if (value === "") next.delete(name);
    else next.set(name, value);
    go(next.size > 0 ? `/?${next}` : "/", { replace: true });
  };

  const [found, below] = useMemo(() => {
    const words = query.toLowerCase().split(/\s+/).filter((w) => w !== "");
    const all: Record<Group, Row[]> = { needs: [], running: [], paused: [], failed: [], idle: [], done: [] };
    const under = new Map<string, Row[]>();
    for (const r of rows.values()) {
      const group = groupOf(r);
      if (status !== "" && group !== status) continue;
      if (engine !== "" && r.engine !== engine) continue;
      if (directory !== "" && r.directory !== directory) continue;
      const text = `${r.title} ${r.session_id} ${r.directory} ${r.engine} ${r.user_id ?? ""}`.toLowerCase();
      if (!words.every((w) => text.includes(w))) continue;
      // What another session handed on stands below it, unless it needs somebody itself.
      const parent = group === "needs" || query !== "" || status !== "" ? undefined : rows.get(r.spawned_by ?? "");
      if (parent === undefined || parent.spawned_by !== undefined) all[group].push(r);
      else under.set(parent.session_id, [...(under.get(parent.session_id) ?? []), r]);
    }
    for (const g of groups) all[g].sort((a, b) => (a.updated_at < b.updated_at ? 1 : a.updated_at > b.updated_at ? -1 : a.session_id < b.session_id ? 1 : -1));
    return [all, under] as const;
  }, [rows, query, status, engine, directory]);

  const items = useMemo(() => {
    const made: Item[] = [];
    for (const g of groups) {
      if (found[g].length === 0) continue;
      made.push({ head: g, count: found[g].length });
      if (closed.includes(g)) continue;
      for (const row of found[g]) {
        made.push({ row, below: false });
        for (const child of below.get(row.session_id) ?? []) made.push({ row: child, below: true });
      }
    }
    return made;
  }, [found, below, closed]);

  const byId = useMemo(() => new Map(asked.map((a) => [a.session_id, a] as const)), [asked]);
  const order = useMemo(() => items.flatMap((i) => ("row" in i ? [i.row.session_id] : [])), [items]);
  const engines = useMemo(() => [...new Set([...rows.values()].map((r) => r.engine ?? ""))].filter((e) => e !== ""), [rows]);
  const directories = useMemo(() => [...new Set([...rows.values()].map((r) => r.directory ?? ""))].filter((d) => d !== ""), [rows]);

  const move = (n: number) => {
    const i = at === undefined ? (n > 0 ? 0 : order.length - 1) : Math.max(0, Math.min(order.length - 1, order.indexOf(at) + n));
    const id = order[i];
    if (id === undefined) return;
    setAt(id);
    list.current?.scrollTo(items.findIndex((x) => "row" in x && x.row.session_id === id));
  };
  const approve = (a: Approval) => {
    if (isGrave(a.input) || toolKind(a.tool_name) === "ask") return void go(`/s/${encodeURIComponent(a.session_id)}`);
    api.answer(a.request_id, { decision: "allow" }).then(() => toast(t("approval.approved"), "ok"), (e: unknown) => toast(messageOf(e), "bad"));
  };
  useKeys({
    down: () => move(1),
    up: () => move(-1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Enter: (e) => (at === undefined || (e.target as HTMLElement).closest("a, button") !== null ? false : go(`/s/${encodeURIComponent(at)}`)),
    search: () => box.current?.focus(),
    Escape: () => (document.activeElement === box.current ? box.current?.blur() : setAt(undefined)),
  });

  const toggle = useCallback((g: Group) => setPrefs({ closed: closed.includes(g) ? closed.filter((x) => x !== g) : [...closed, g] }), [closed]);
  const filtered = query !== "" || status !== "" || engine !== "" || directory !== "";

  return (
    <>
      <header className="flex flex-wrap items-center gap-2 border-b border-line bg-panel px-4 py-2.5 sm:px-6">
        <h1 className="me-auto text-lg font-semibold tracking-tight">{t("nav.sessions")}</h1>
        <div className="relative order-last w-full sm:order-none sm:w-60">
          <I.Search className="absolute start-2.5 top-1/2 -translate-y-1/2 text-faint" size={14} />
          <input ref={box} type="search" aria-label={t("sessions.search")} placeholder={[t("sessions.search"), wide && key("search")].filter(Boolean).join("  ")} value={query} onChange={(e) => change("q", e.target.value)} className={inputClass.replace("h-9", "h-8").replace("text-base", "text-sm") + " ps-8"} />
        </div>
        <Select label={t("sessions.status")} value={status} onChange={(v) => change("status", v)} options={groups.map((g) => [g, t(`group.${g}`)])} />
        {engines.length > 1 && <Select label={t("sessions.engine")} value={engine} onChange={(v) => change("engine", v)} options={engines.map((e) => [e, e])} />}
        {directories.length > 1 && <Select label={t("sessions.directory")} value={directory} onChange={(v) => change("dir", v)} options={directories.map((d) => [d, d.split("/").pop() ?? d])} />}
        <div className="max-sm:hidden">
          <Choice label={t("sessions.view")} value={view} onChange={(v) => change("view", v === "list" ? "" : v)} options={[{ value: "list", label: <><I.Sessions size={13} />{t("sessions.list")}</> }, { value: "board", label: <><I.Board size={13} />{t("sessions.board")}</> }]} />
        </div>
        <Button tone="primary" onClick={openNew} hotkey={key("new")}><I.Plus size={14} />{t("new.button")}</Button>
      </header>
      {!ready ? (
        <Loading />
      ) : rows.size === 0 ? (
        <Welcome />
      ) : items.length === 0 ? (
        <Empty icon={<I.Search size={20} />} title={t("sessions.none")}>{filtered && <Button size="sm" onClick={() => go("/")}>{t("sessions.clear")}</Button>}</Empty>
      ) : view === "board" ? (
        <div className="flex min-h-0 flex-1 gap-3 overflow-x-auto p-4 sm:px-6">
          {groups.filter((g) => found[g].length > 0).map((g) => (
            <section key={g} aria-label={t(`group.${g}`)} className="flex w-72 shrink-0 flex-col">
              <h2 className="flex items-center gap-2 px-1 pb-2 text-2xs font-semibold tracking-wider text-faint uppercase">{t(`group.${g}`)} <span className="num">{found[g].length}</span></h2>
              <div className="min-h-0 flex-1 space-y-2 overflow-y-auto pb-4">{found[g].slice(0, 100).map((r) => <SessionCard key={r.session_id} row={r} approval={byId.get(r.session_id)} />)}</div>
            </section>
          ))}
        </div>
      ) : (
        <KnownList
          handle={list}
          label={t("nav.sessions")}
          className="min-h-0 flex-1 px-2 pt-1 pb-6 sm:px-4"
          count={items.length}
          height={(i) => ("head" in items[i]! ? 40 : 60)}
          row={(i) => {
            const item = items[i]!;
            if ("head" in item) return <GroupHead key={item.head} group={item.head} count={item.count} closed={closed.includes(item.head)} onToggle={toggle} />;
            const a = byId.get(item.row.session_id);
            return <SessionRow key={item.row.session_id} row={item.row} approval={a} below={item.below} selected={item.row.session_id === at} onApprove={approve} parent={item.row.parent_session_id === undefined ? undefined : titleOf(rows.get(item.row.parent_session_id))} />;
          }}
        />
      )}
    </>
  );
}

function GroupHead({ group, count, closed, onToggle }: { readonly group: Group; readonly count: number; readonly closed: boolean; readonly onToggle: (g: Group) => void }): ReactNode {
  return (
    <div role="listitem" className="flex h-10 items-end pb-1.5">
      <button type="button" aria-expanded={!closed} onClick={() => onToggle(group)} className={`flex items-center gap-1.5 rounded-md px-2 text-2xs font-semibold tracking-wider uppercase hover:text-ink ${group === "needs" ? "text-warn" : "text-faint"}`}>
        {closed ? <I.Right size={11} /> : <I.Down size={11} />}
        {t(`group.${group}`)}
        <span className="num font-normal">{count}</span>
      </button>
    </div>
  );
}

function Select({ label, value, options, onChange }: { readonly label: string; readonly value: string; readonly options: readonly (readonly [string, string])[]; readonly onChange: (v: string) => void }): ReactNode {
  return (
    <select aria-label={label} value={value} onChange={(e) => onChange(e.target.value)} className={`h-8 max-w-36 rounded-lg pointer-coarse:h-11 border border-edge bg-panel px-2 text-sm ${value === "" ? "text-quiet" : "font-medium text-mark"}`}>
      <option value="">{label}</option>
      {options.map(([v, text]) => <option key={v} value={v}>{text}</option>)}
    </select>
  );
}

function Loading(): ReactNode {
  return (
    <div aria-busy="true" aria-label={t("loading")} className="flex-1 space-y-3 p-6">
      {[72, 56, 64, 48].map((w) => <div key={w} className="h-11 animate-pulse rounded-xl bg-sunken" style={{ width: `${w}%` }} />)}
    </div>
  );
}

function Welcome(): ReactNode {
  const key = useKeyNames();
  return (
    <Empty icon={<img src="/console/icon.svg" alt="" width="24" height="24" />} title={t("welcome.title")}>
      <p>{t("welcome.text")}</p>
      <div className="mt-5"><Button tone="primary" onClick={openNew} hotkey={key("new")}><I.Plus size={14} />{t("new.title")}</Button></div>
      <div className="mt-6 space-y-2 text-start">
        <p className="text-xs text-faint">{t("welcome.terminal")}</p>
        <pre className="rounded-lg border border-line bg-panel px-3 py-2 font-mono text-xs whitespace-pre-wrap">harness run "list the files"{"\n"}harness attach</pre>
      </div>
    </Empty>
  );
}
