import { type http, HarnessError } from "harness-client";

import { again } from "./again";

export type Session = http.Session;
export type Detail = http.SessionDetail;
export type Approval = http.Approval;
export type Snapshot = http.Snapshot;
export type LogEvent = http.Event;
export type Health = http.HealthSnapshot;
export type Engine = http.EngineRow;

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Asks the server; what only reads is asked again if nothing answers. It throws a HarnessError with the problem's code. */
async function ask<T>(method: string, path: string, query: Query = {}, body?: unknown, signal?: AbortSignal): Promise<T> {
  const url = new URL(path, location.origin);
  for (const [k, v] of Object.entries(query)) if (v !== undefined && v !== "") url.searchParams.set(k, String(v));
  const init: RequestInit = { method, headers: { accept: "application/json" }, credentials: "same-origin" };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { accept: "application/json", "content-type": "application/json" };
  }
  if (signal !== undefined) init.signal = signal;
  let answer: Response;
  try {
    const reach = () => fetch(url, init);
    answer = await (method === "GET" ? again(reach, signal) : reach());
  } catch (e) {
    if (signal?.aborted) throw e;
    throw new HarnessError("network", e instanceof Error ? e.message : String(e));
  }
  if (answer.status === 204) return undefined as T;
  if (answer.ok) return (await answer.json()) as T; // which may break off
  const problem = (await answer.json().catch(() => ({}))) as Partial<http.Problem>;
  throw new HarnessError(problem.code ?? `http_${answer.status}`, problem.detail ?? problem.title ?? `HTTP ${answer.status}`);
}

const of = (id: string) => `/sessions/${encodeURIComponent(id)}`;

export interface NewSession {
  readonly title?: string;
  readonly directory?: string;
  readonly permission_mode?: string;
  readonly model?: string;
  readonly policy?: unknown;
}

export interface Rewound {
  readonly seq: number;
  readonly message_id: string;
  readonly dry_run: boolean;
  readonly insertions: number;
  readonly deletions: number;
  readonly restore: readonly RewoundFile[];
  readonly delete: readonly RewoundFile[];
  readonly conflict: readonly RewoundFile[];
  readonly skipped: readonly RewoundFile[];
  readonly failed: readonly RewoundFile[];
  readonly omitted: number;
  readonly error?: string;
}

export interface RewoundFile {
  readonly path: string;
  readonly insertions: number;
  readonly deletions: number;
  readonly binary?: boolean;
  readonly reason?: string;
}

export interface Verdict {
  readonly outcome: "allow" | "ask" | "deny";
  readonly rule: string;
  readonly reason?: string;
  readonly source: string;
  readonly always?: string;
}

export interface Rule {
  readonly rule_id: string;
  readonly directory: string;
  readonly tool_name: string;
  readonly pattern?: string;
  readonly session_id: string;
  readonly actor?: string;
  readonly created_at: string;
}

/** What hooks are told of, and of that what one that names nothing is. */
export const hookKinds = ["needs_approval", "completed", "failed", "expired", "cancelled", "paused"] as const;
export type HookKind = (typeof hookKinds)[number];
export const usualKinds: readonly HookKind[] = ["needs_approval", "completed", "failed", "expired"];

export interface NewToken {
  readonly name: string;
  readonly role: "viewer" | "operator" | "approver" | "admin";
  readonly user_id?: string;
  readonly scope?: string;
  readonly expires_at?: string;
}

export interface Token extends Omit<NewToken, "scope"> {
  readonly scope?: readonly string[];
  readonly created_at: string;
  /** Only when it is made. */
  readonly token?: string;
}

export interface Hook {
  readonly name: string;
  readonly url?: string;
  readonly command?: boolean; // of the server instead
  readonly on: readonly string[];
  readonly kind?: string;
  readonly user_id?: string;
  readonly waiting: number;
  readonly removable: boolean;
  readonly secret?: string; // only when it is made
  readonly failures?: number; // in a row
  readonly last_failed_at?: string;
  readonly last_error?: string;
}

export interface About {
  readonly version: string;
  readonly engine: string;
  readonly directory: string;
  readonly facts: readonly (readonly [string, string])[];
}

export const api = {
  whoami: () => ask<{ readonly name: string; readonly user: string; readonly role: string }>("GET", "/whoami"),
  about: () => ask<About>("GET", "/about"),
  logout: () => ask("POST", "/logout"),
  loginCode: () => ask<{ readonly code: string; readonly expires_in: number }>("POST", "/login/code"),
  create: (n: NewSession) => ask<Session>("POST", "/chat/sessions", {}, n),
  turn: (id: string, prompt: string, on_busy?: "queue" | "interrupt") => ask<{ readonly seq: number }>("POST", `/chat/sessions/${encodeURIComponent(id)}/turns`, {}, { prompt, ...(on_busy !== undefined && { on_busy }) }),
  detail: (id: string, signal?: AbortSignal) => ask<Detail>("GET", of(id), {}, undefined, signal),
  configure: (id: string, change: unknown) => ask<Session>("PATCH", of(id), {}, change),
  remove: (id: string) => ask<undefined>("DELETE", of(id)),
  cancel: (id: string) => ask("POST", of(id) + "/cancel", {}, {}),
  pause: (id: string) => ask("POST", of(id) + "/pause", {}),
  resume: (id: string) => ask("POST", of(id) + "/resume", {}, {}),
  branch: (id: string, from?: string, title?: string) => ask<Session>("POST", `/sessions/${encodeURIComponent(id)}/resume`, {}, { from_event_id: from, ...(title !== undefined && title !== "" && { title }) }),
  rewind: (id: string, message_id: string, dry_run: boolean, force = false) => ask<Rewound>("POST", of(id) + "/rewind", {}, { message_id, dry_run, force }),
  state: (id: string, at: number | "now", messages?: number, signal?: AbortSignal) => ask<Snapshot>("GET", of(id) + "/state", { at, messages }, undefined, signal),
  events: (id: string, q: { readonly after?: number; readonly limit?: number; readonly tier?: string; readonly types?: string }, signal?: AbortSignal) => ask<http.EventPage>("GET", of(id) + "/events", q, undefined, signal),
  processes: (id: string) => ask<{ readonly processes: readonly { readonly role: string; readonly pid: number; readonly started_at?: string }[] }>("GET", of(id) + "/processes"),
  approvals: () => ask<http.ApprovalPage>("GET", "/approvals", { limit: 200 }),
  answer: (request: string, a: http.ApprovalAnswer) => ask("POST", `/approvals/${encodeURIComponent(request)}`, {}, a),
  rules: () => ask<{ readonly rules: readonly Rule[] }>("GET", "/rules", { limit: 1000 }),
  revoke: (id: string) => ask<undefined>("DELETE", `/rules/${encodeURIComponent(id)}`),
  tryPolicy: (q: { readonly tool: string; readonly input?: unknown; readonly mode?: string; readonly directory?: string }) => ask<Verdict>("POST", "/policy/test", {}, q),
  hooks: () => ask<{ readonly webhooks: readonly Hook[] }>("GET", "/webhooks"),
  addHook: (h: { readonly name: string; readonly url: string; readonly on: string; readonly kind?: string }) => ask<Hook>("POST", "/webhooks", {}, h),
  removeHook: (name: string) => ask<undefined>("DELETE", `/webhooks/${encodeURIComponent(name)}`),
  tryHook: (name: string) => ask<{ readonly delivered: boolean; readonly problem?: string; readonly elapsed_ms: number }>("POST", `/webhooks/${encodeURIComponent(name)}/test`),
  tokens: () => ask<{ readonly tokens: readonly Token[] }>("GET", "/tokens"),
  addToken: (k: NewToken) => ask<Token>("POST", "/tokens", {}, k),
  removeToken: (name: string) => ask<undefined>("DELETE", `/tokens/${encodeURIComponent(name)}`),
  engines: () => ask<http.EngineList>("GET", "/engines"),
  metrics: async () => {
    const r = await again(() => fetch("/metrics", { credentials: "same-origin" }));
    if (!r.ok) throw new HarnessError(r.status === 403 ? "forbidden" : "internal", `HTTP ${r.status}`);
    return r.text();
  },
  artifact: async (id: string) => {
    const r = await again(() => fetch(`/artifacts/${encodeURIComponent(id)}`, { credentials: "same-origin" }));
    if (!r.ok) throw new HarnessError("not_found", `HTTP ${r.status}`);
    return r.arrayBuffer();
  },
};

export function messageOf(e: unknown): string {
  return e instanceof Error ? e.message : String(e);
}
