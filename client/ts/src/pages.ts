import { HarnessError } from "./errors.js";
import type { Event, EventPage, Message, Snapshot } from "./http.gen.js";
import type { Http } from "./http.js";
import type { HarnessMessage } from "./protocol.gen.js";

/** Events of one request; a screen or two. */
const pageEvents = 200;

/** How many pages of events are kept: some megabytes. */
const keptPages = 64;

/** How many old messages are kept. */
const keptMessages = 2_000;

/** Messages of one request. */
const pageMessages = 100;

/** The most messages that a state shows. */
const stateMessages = 1_000;

/** What a page of the log may be asked to leave out. */
export interface EventFilter {
  readonly after?: number;
  readonly limit?: number;
  readonly tier?: "default" | "debug";
  readonly types?: readonly string[];
}

function sessionPath(id: string | undefined): string {
  if (id === undefined) throw new HarnessError("not_found", "the session is not known yet");
  return `sessions/${encodeURIComponent(id)}`;
}

/** Least recently used goes first. */
class Kept<V> {
  readonly #most: number;
  readonly #map = new Map<number, V>();

  constructor(most: number) {
    this.#most = most;
  }

  get(key: number): V | undefined {
    const v = this.#map.get(key);
    if (v !== undefined) {
      this.#map.delete(key);
      this.#map.set(key, v);
    }
    return v;
  }

  set(key: number, value: V): void {
    this.#map.delete(key);
    this.#map.set(key, value);
    if (this.#map.size > this.#most) this.#map.delete(this.#map.keys().next().value!);
  }

  clear(): void {
    this.#map.clear();
  }
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

/**
 * MessagePages reads messages by their place in the conversation, for those
 * that a window leaves out. Only finished ones are kept: they never change.
 */
export class MessagePages {
  readonly #http: Http;
  readonly #session: () => string | undefined;
  readonly #kept = new Kept<HarnessMessage>(keptMessages);
  #of: string | undefined;

  constructor(http: Http, session: () => string | undefined) {
    this.#http = http;
    this.#session = session;
  }

  /** The messages from…to-1, as far as there are so many. */
  async range(from: number, to: number, signal?: AbortSignal): Promise<readonly HarnessMessage[]> {
    if (this.#of !== this.#session()) {
      this.#of = this.#session();
      this.#kept.clear();
    }
    const list: HarnessMessage[] = [];
    for (let at = Math.max(0, from); at < to; ) {
      const here = this.#kept.get(at);
      if (here !== undefined) {
        list.push(here);
        at++;
        continue;
      }
      const got = await this.#fetch(at, to, signal);
      if (got.length === 0) break;
      list.push(...got);
      at += got.length;
    }
    return list;
  }

  /** Some of the messages from…to-1, the first one among them. */
  async #fetch(from: number, to: number, signal?: AbortSignal): Promise<readonly HarnessMessage[]> {
    const now = await this.#snapshot("now", 0, signal);
    if (from >= now.message_count) return [];
    let squeezed = false;
    for (let size = Math.min(to - from, pageMessages), slack = 8; ; ) {
      const near = !squeezed && now.message_count - from <= 3 * pageMessages;
      const there = near ? now : await this.#reach(from + size + slack, now, signal);
      const page = await this.#snapshot(there.seq, Math.min(stateMessages, there.message_count - from), signal);
      if (page.first_message > from) {
        // The texts are larger than an answer may be: take fewer, from further back.
        if (squeezed && size === 1) return [];
        [squeezed, size, slack] = [true, Math.max(1, size >> 1), 0];
        continue;
      }
      const list = page.messages.slice(from - page.first_message, to - page.first_message).map(fromHttp);
      const open = list.findIndex((m) => m.status !== "complete" && m.status !== "error");
      const done = open < 0 ? list : list.slice(0, open);
      done.forEach((m, i) => this.#kept.set(from + i, m));
      if (done.length > 0) return done;
      if (squeezed || there.seq >= now.seq) return list;
      slack = slack * 8; // it was still being written there: look later
    }
  }

  /** The session at the first event with so many messages, or now; found by halves. */
  async #reach(count: number, now: Snapshot, signal?: AbortSignal): Promise<Snapshot> {
    if (now.message_count <= count) return now;
    let [low, high, best] = [1, now.seq, now];
    while (low < high) {
      const there = await this.#snapshot(Math.floor((low + high) / 2), 0, signal);
      if (there.message_count >= count) [high, best] = [there.seq, there];
      else low = there.seq + 1;
    }
    return best;
  }

  #snapshot(at: number | "now", messages: number, signal?: AbortSignal): Promise<Snapshot> {
    return this.#http.get(`${sessionPath(this.#session())}/state`, { at, messages }, signal);
  }
}

/** A message of the REST side in S0's form. */
export function fromHttp(m: Message): HarnessMessage {
  const { item_id: id, tool_calls: calls, role, content, status, reasoning } = m;
  return {
    id,
    role,
    content,
    status,
    ...(reasoning !== undefined && { reasoning }),
    ...(calls !== undefined && {
      toolCalls: calls.map((c) => ({
        id: c.tool_call_id,
        name: c.name,
        status: c.status === "awaiting_approval" ? ("awaiting-approval" as const) : c.status,
        at: c.at,
        ...(c.input !== undefined && c.input !== null && { input: c.input as { readonly [key: string]: unknown } }),
        ...(c.output !== undefined && { output: c.output }),
        ...(c.output_bytes !== undefined && { outputBytes: c.output_bytes }),
      })),
    }),
  };
}
