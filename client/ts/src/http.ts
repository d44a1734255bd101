import { baseOf, type Endpoint } from "./endpoint.js";
import { HarnessError } from "./errors.js";
import type { Problem } from "./http.gen.js";

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

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
    const url = new URL(path, baseOf(this.#endpoint));
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const headers: Record<string, string> = { accept: "application/json" };
    if (this.#endpoint.token !== undefined) headers["authorization"] = "Bearer " + this.#endpoint.token;
    if (body !== undefined) headers["content-type"] = "application/json";
    const init: RequestInit = { method, headers, credentials: "same-origin" };
    if (body !== undefined) init.body = JSON.stringify(body);
    if (signal !== undefined) init.signal = signal;
    let answer: Response;
    try {
      answer = await this.#fetch(url.href, init);
      if (answer.ok) return (await answer.json()) as T;
    } catch (e) {
      if (signal?.aborted) throw e;
      throw new HarnessError("network", e instanceof Error ? e.message : String(e));
    }
    const problem = (await answer.json().catch(() => ({}))) as Partial<Problem>;
    throw new HarnessError(problem.code ?? statusCode(answer.status), problem.detail ?? problem.title ?? `HTTP ${answer.status}`);
  }
}

function statusCode(status: number): string {
  return { 401: "unauthenticated", 403: "forbidden", 404: "not_found", 429: "too_many_requests" }[status] ?? "internal";
}

/** The path of a session's resources. */
export function sessionPath(id: string | undefined): string {
  if (id === undefined) throw new HarnessError("not_found", "the session is not known yet");
  return `sessions/${encodeURIComponent(id)}`;
}
