import type { Event, EventPage } from "./http.gen.js";
import { type Http, sessionPath } from "./http.js";
import { Kept } from "./kept.js";

/** Events of one request; a screen or two. */
const pageEvents = 200;

/** How many pages of events are kept: some megabytes. */
const keptPages = 64;

/** What a page of the log may be asked to leave out. */
export interface EventFilter {
  readonly after?: number;
  readonly limit?: number;
  readonly tier?: "default" | "debug";
  readonly types?: readonly string[];
}

/**
 * EventPages reads the log by sequence number. Events never change, so a page
 * is fetched once and kept while it is used; nothing of it is in the state.
 */
export class EventPages {
  readonly #http: Http;
  readonly #session: () => string | undefined;
  readonly #pages = new Kept<readonly Event[]>(keptPages);
  readonly #asked = new Map<number, Promise<readonly Event[]>>();
  #of: string | undefined;

  constructor(http: Http, session: () => string | undefined) {
    this.#http = http;
    this.#session = session;
  }

  /** One page as the server has it. */
  async list(filter: EventFilter = {}, signal?: AbortSignal): Promise<EventPage> {
    const { types, ...rest } = filter;
    return this.#http.get(`${sessionPath(this.#session())}/events`, { ...rest, types: types?.join(",") }, signal);
  }

  /** The events from…to, both included, as far as the log goes. */
  async window(from: number, to: number): Promise<readonly Event[]> {
    this.#follow();
    const first = Math.floor((Math.max(1, from) - 1) / pageEvents);
    const last = Math.floor((Math.max(1, to) - 1) / pageEvents);
    const pages: Promise<readonly Event[]>[] = [];
    for (let n = first; n <= last; n++) pages.push(this.#page(n, Math.min(to, (n + 1) * pageEvents)));
    return cut((await Promise.all(pages)).flat(), from, to);
  }

  /** As much of a window as is here already. */
  peek(from: number, to: number): readonly Event[] {
    this.#follow();
    const list: Event[] = [];
    for (let n = Math.floor((Math.max(1, from) - 1) / pageEvents); n <= Math.floor((Math.max(1, to) - 1) / pageEvents); n++) {
      list.push(...(this.#pages.get(n) ?? []));
    }
    return cut(list, from, to);
  }

  #follow(): void {
    if (this.#of === this.#session()) return;
    this.#of = this.#session();
    this.#pages.clear();
    this.#asked.clear();
  }

  async #page(n: number, until: number): Promise<readonly Event[]> {
    const have = this.#pages.get(n);
    if (have !== undefined && (have.at(-1)?.seq ?? 0) >= until) return have;
    const before = this.#asked.get(n);
    if (before !== undefined) {
      const page = await before;
      if ((page.at(-1)?.seq ?? 0) >= until) return page;
    }
    const asked = this.#fetch(n, have ?? []).finally(() => this.#asked.get(n) === asked && this.#asked.delete(n));
    this.#asked.set(n, asked);
    return asked;
  }

  /** Goes on behind what is here: a page of the server may be short. */
  async #fetch(n: number, have: readonly Event[]): Promise<readonly Event[]> {
    const of = this.#of;
    const page = [...have];
    const end = (n + 1) * pageEvents;
    for (;;) {
      const after = page.at(-1)?.seq ?? n * pageEvents;
      if (after >= end) break;
      const next = await this.list({ after, limit: end - after });
      page.push(...next.events);
      if (next.next_cursor === undefined || next.events.length === 0) break;
    }
    if (of === this.#of) this.#pages.set(n, page);
    return page;
  }
}

function cut(list: readonly Event[], from: number, to: number): readonly Event[] {
  return list.filter((e) => e.seq >= from && e.seq <= to);
}
