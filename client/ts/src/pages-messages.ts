import type { Message, Snapshot } from "./http.gen.js";
import type { Http } from "./http.js";
import { Kept, sessionPath } from "./pages.js";
import type { HarnessMessage } from "./protocol.gen.js";

/** How many old messages are kept. */
const keptMessages = 2_000;

/** Messages of one request. */
const pageMessages = 100;

/** The most messages that a state shows. */
const stateMessages = 1_000;

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
