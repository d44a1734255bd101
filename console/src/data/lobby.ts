import { defaultBackoff, wait } from "harness-client";

import type { Session } from "./api";
import { createStore, useSelect } from "./store";

export interface Activity {
  readonly doing: "thinking" | "writing" | "tool" | "asking";
  readonly tool?: string;
  readonly input?: Readonly<Record<string, unknown>>;
}

export interface Row extends Session {
  readonly activity?: Activity;
}

export type Phase = "connecting" | "open" | "reconnecting" | "closed";

export interface Lobby {
  readonly phase: Phase;
  readonly since: number;
  readonly ready: boolean;
  readonly rows: ReadonlyMap<string, Row>;
}

/** The list of sessions, as the server has it. */
export const lobby = createStore<Lobby>({ phase: "connecting", since: Date.now(), ready: false, rows: new Map() });

/** Scores of a session since this page is open, for a small line. */
export const scores = new Map<string, number[]>();

/** Hears of every row that changed, with what was there before. */
const watchers = new Set<(row: Row, before: Row | undefined) => void>();

export function onRow(f: (row: Row, before: Row | undefined) => void): () => void {
  watchers.add(f);
  return () => watchers.delete(f);
}

/** The server's heart beats every 10 s, and whoever leads hears it for all; a list begins at once. */
const silence = 25_000;
const patience = 8_000;

/** What one tab tells the others. */
type Word =
  | { readonly kind: "hello" }
  | { readonly kind: "all"; readonly phase: Phase; readonly rows: readonly Row[]; readonly ready: boolean }
  | { readonly kind: "changes"; readonly rows: readonly Row[]; readonly gone: readonly string[]; readonly ready: boolean }
  | { readonly kind: "phase"; readonly phase: Phase };

let channel: BroadcastChannel | undefined;
let leads = false;
let release: (() => void) | undefined;
let source: EventSource | undefined;
let down = Date.now(); // since when nothing was heard of the list
let heard = 0;
let retry: ReturnType<typeof setTimeout> | undefined;
let pending: { rows: Map<string, Row>; gone: Set<string>; ready: boolean } | undefined;
let fresh: Set<string> | undefined; // the rows of a list that is being told anew

/**
 * Follows the list. Browsers allow few connections to one server, so of several
 * tabs one has the stream and tells the others; when it goes, another takes
 * over. Where tabs cannot agree each has its own.
 */
export function startLobby(): void {
  if (navigator.locks === undefined || typeof BroadcastChannel === "undefined") lead();
  else {
    channel = new BroadcastChannel("harness.lobby");
    channel.onmessage = (e: MessageEvent<Word>) => hear(e.data);
    tell({ kind: "hello" });
    stand(false);
    heard = Date.now();
  }
  setInterval(() => {
    const { ready, phase } = lobby.get();
    if (phase === "closed") return; // until somebody logs in
    const calm = ready && (!leads || down === 0);
    if (heard === 0 || Date.now() - heard < (calm ? silence : patience)) return;
    if (leads && source !== undefined) lost();
    if (!leads) {
      become("reconnecting");
      heard = Date.now();
      stand(true); // whoever leads says nothing
    }
  }, 5_000);
  const look = () => {
    if (document.hidden) return;
    if (!leads) tell({ kind: "hello" });
    else if (source === undefined || Date.now() - heard > 12_000) redial();
  };
  document.addEventListener("visibilitychange", look);
  addEventListener("online", look);
  // A page that is kept for going back must not keep a connection.
  addEventListener("pagehide", () => (source?.close(), (source = undefined), release?.()));
  addEventListener("pageshow", (e) => {
    if (!e.persisted) return;
    if (channel === undefined) dial();
    else (tell({ kind: "hello" }), stand(false));
  });
}

/** Waits to lead, or takes the lead from somebody who is not heard. Who loses it waits again. */
function stand(steal: boolean): void {
  const until = () => new Promise<void>((done) => {
    release = () => ((release = undefined), (leads = false), done());
    lead();
  });
  navigator.locks.request("harness.lobby", { steal }, until).catch(() => {
    source?.close();
    source = undefined;
    leads = false;
    heard = Date.now();
    clearTimeout(retry);
    stand(false);
  });
}

function lead(): void {
  leads = true;
  tell({ kind: "phase", phase: lobby.get().phase });
  redial();
}

function tell(w: Word): void {
  channel?.postMessage(w);
}

/** Another tab says something. */
function hear(w: Word): void {
  if (leads) {
    const l = lobby.get();
    if (w.kind === "hello" && l.phase === "closed") redial(); // it may have logged in
    else if (w.kind === "hello" && l.ready) tell({ kind: "all", phase: l.phase, rows: [...l.rows.values()], ready: l.ready });
    return;
  }
  if (w.kind === "hello") return;
  heard = Date.now();
  switch (w.kind) {
    case "phase":
      return become(w.phase);
    case "changes":
    case "all": {
      const q = queue();
      if (w.kind === "all") {
        const ids = new Set(w.rows.map((r) => r.session_id));
        for (const id of lobby.get().rows.keys()) if (!ids.has(id)) q.gone.add(id);
        become(w.phase);
      } else for (const id of w.gone) (q.rows.delete(id), q.gone.add(id));
      for (const r of w.rows) q.rows.set(r.session_id, r);
      q.ready ||= w.ready;
    }
  }
}

function dial(): void {
  clearTimeout(retry);
  source?.close();
  const s = new EventSource("/sessions/stream");
  source = s;
  heard = Date.now();
  fresh = new Set();
  const on = (name: string, f: (data: string) => void) =>
    s.addEventListener(name, (e) => {
      if (source !== s) return;
      heard = Date.now();
      f((e as MessageEvent<string>).data);
    });
  on("session", (data) => {
    const row = JSON.parse(data) as Row;
    fresh?.add(row.session_id);
    queue().rows.set(row.session_id, row);
  });
  on("gone", (data) => {
    const { session_id: id } = JSON.parse(data) as { session_id: string };
    queue().rows.delete(id);
    queue().gone.add(id);
  });
  on("ready", () => {
    down = 0;
    const q = queue();
    q.ready = true;
    for (const id of lobby.get().rows.keys()) if (fresh?.has(id) === false) q.gone.add(id);
    fresh = undefined;
    become("open");
  });
  on("beat", () => (become("open"), tell({ kind: "phase", phase: "open" })));
  on("reset", () => redial());
  s.onerror = () => source === s && lost();
}

function redial(): void {
  down = Date.now();
  dial();
}

function lost(): void {
  source?.close();
  source = undefined;
  become(lobby.get().ready ? "reconnecting" : "connecting");
  tell({ kind: "phase", phase: lobby.get().phase }); // every attempt: the others hear that somebody tries
  if (down === 0) down = Date.now();
  const ms = wait(Date.now() - down, defaultBackoff, Math.random());
  clearTimeout(retry);
  retry = setTimeout(() => {
    // A page is not told why a stream failed; whoami says it.
    fetch("/whoami", { signal: AbortSignal.timeout(patience) }).then(
      (r) => leads && (r.status === 401 ? become("closed") : dial()),
      () => leads && lost(),
    );
  }, ms);
}

function become(phase: Phase): void {
  if (lobby.get().phase === phase) return;
  lobby.set((l) => ({ ...l, phase, since: Date.now() }));
  if (leads) tell({ kind: "phase", phase });
}

function queue(): NonNullable<typeof pending> {
  if (pending === undefined) {
    pending = { rows: new Map(), gone: new Set(), ready: false };
    setTimeout(flush, 100); // a tab that nobody sees has no frames, and may have to tell the others
    if (!document.hidden) requestAnimationFrame(flush);
  }
  return pending;
}

/** Shows what came since the last frame as one change. */
function flush(): void {
  const p = pending;
  pending = undefined;
  if (p === undefined) return;
  const l = lobby.get();
  const rows = new Map(l.rows);
  const told: [Row, Row | undefined][] = [];
  for (const id of p.gone) rows.delete(id);
  for (const [id, row] of p.rows) {
    const before = rows.get(id);
    if (before !== undefined && before.seq > row.seq) continue;
    const active = row.status === "running" || row.status === "awaiting_approval";
    const made = row.activity === undefined && active && before?.activity !== undefined ? { ...row, activity: before.activity } : row;
    rows.set(id, made);
    if (row.health !== undefined) note(id, row.health.score);
    if (l.ready) told.push([made, before]);
  }
  lobby.set({ ...l, rows, ready: l.ready || p.ready });
  if (leads && p.ready) tell({ kind: "all", phase: "open", rows: [...rows.values()], ready: true });
  else if (leads) tell({ kind: "changes", rows: [...p.rows.values()], gone: [...p.gone], ready: false });
  for (const [row, before] of told) for (const w of watchers) w(row, before);
}

function note(id: string, score: number): void {
  const list = scores.get(id) ?? [];
  if (list.length > 0 && list.at(-1) === score) return;
  list.push(score);
  if (list.length > 24) list.shift();
  scores.set(id, list);
}

export function useRow(id: string): Row | undefined {
  return useSelect(lobby, (l) => l.rows.get(id));
}

/** Whether a session that has something to do gets nowhere: health's own flag, whatever the score. One whose turn failed is failed. */
export function isStuck(r: Row): boolean {
  return r.health?.stuck === true && ["running", "queued", "recovering", "awaiting_approval"].includes(r.status);
}

export type Group = "needs" | "running" | "paused" | "failed" | "idle" | "done";

export const groups: readonly Group[] = ["needs", "running", "paused", "failed", "idle", "done"];

/** Which group of the list a session belongs to. */
export function groupOf(r: Row): Group {
  switch (r.status) {
    case "awaiting_approval":
      return "needs";
    case "running":
    case "queued":
    case "recovering":
      return isStuck(r) ? "needs" : "running";
    case "paused":
      return "paused";
    case "failed":
      return "failed";
    case "idle":
      return r.reason === "error" ? "failed" : "idle";
    case "completed":
    case "cancelled":
      return "done";
  }
}
