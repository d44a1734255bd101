import type { HarnessClient } from "./client.js";
import { credential, type Endpoint, urlOf } from "./endpoint.js";
import { HarnessError } from "./errors.js";
import type { ApprovalAnswer, Problem, Snapshot } from "./http.gen.js";
import type { Fetch } from "./options.js";

export { fromHttp } from "./from-http.js";

type Query = Readonly<Record<string, string | number | undefined>>;

/** Http asks the server's REST side, with the same credential as the socket. */
export class Http {
  readonly #endpoint: Endpoint;
  readonly #fetch: Fetch;

  constructor(endpoint: Endpoint, fetcher?: Fetch) {
    this.#endpoint = endpoint;
    this.#fetch = fetcher ?? ((url, init) => fetch(url, init));
  }

  /** Throws a {@link HarnessError} with the problem's code, or `network`. */
  get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
    return this.#ask("GET", path, query, undefined, signal);
  }

  post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
    return this.#ask("POST", path, {}, body, signal);
  }

  async #ask<T>(method: string, path: string, query: Query, body: unknown, signal?: AbortSignal): Promise<T> {
    const headers: Record<string, string> = { accept: "application/json", ...credential(this.#endpoint) };
    if (body !== undefined) headers["content-type"] = "application/json";
    const init: RequestInit = { method, headers };
    if (body !== undefined) init.body = JSON.stringify(body);
    if (signal !== undefined) init.signal = signal;
    let answer: Response;
    try {
      answer = await this.#fetch(urlOf(this.#endpoint, path, query).href, init);
      if (answer.ok) return (await answer.json()) as T;
    } catch (e) {
      if (signal?.aborted) throw e;
      throw new HarnessError("network", e instanceof Error ? e.message : String(e));
    }
    const problem = (await answer.json().catch(() => ({}))) as Partial<Problem>;
    throw new HarnessError(problem.code ?? codeOf(answer.status), problem.detail ?? problem.title ?? `HTTP ${answer.status}`);
  }
}

/** The code of a status, for an answer that has none: of somebody between. */
function codeOf(status: number): string {
  return { 401: "unauthenticated", 403: "forbidden", 404: "not_found", 429: "too_many_requests" }[status] ?? "internal";
}

/** The path of a session's resources. */
export function sessionPath(id: string | undefined): string {
  if (id === undefined) throw new HarnessError("not_found", "the session is not known yet");
  return `sessions/${encodeURIComponent(id)}`;
}

const made = new WeakMap<HarnessClient, Http>();

/** The REST side of a client's server: the same for everybody who asks. */
export function httpOf(client: HarnessClient): Http {
  let http = made.get(client);
  if (http === undefined) made.set(client, (http = new Http(client.options, client.options.fetch)));
  return http;
}

/** Answers an approval for longer than once, which the socket cannot. */
export function answer(client: HarnessClient, requestId: string, answer: ApprovalAnswer): Promise<unknown> {
  return httpOf(client).post(`approvals/${encodeURIComponent(requestId)}`, answer);
}

/** The session as it was at an event. */
export async function stateAt(client: HarnessClient, seq: number, signal?: AbortSignal): Promise<Snapshot> {
  return httpOf(client).get(`${sessionPath(client.sessionId)}/state`, { at: seq }, signal);
}
