import { fromHttp } from "./from-http.js";
import type { MessagePage } from "./http.gen.js";
import { type Http, sessionPath } from "./http.js";
import { Kept } from "./kept.js";
import type { HarnessMessage } from "./protocol.gen.js";

/** How many old messages are kept. */
const keptMessages = 2_000;

/** Messages of one request. */
const pageMessages = 200;

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
    const of = this.#session();
    if (this.#of !== of) {
      this.#of = of;
      this.#kept.clear();
    }
    const list: HarnessMessage[] = []; // from the end to the beginning
    for (let end = to; end > Math.max(0, from); ) {
      const here = this.#kept.get(end - 1);
      if (here !== undefined) {
        list.push(here);
        end--;
        continue;
      }
      const page: MessagePage = await this.#http.get(`${sessionPath(of)}/messages`, { before: end, limit: Math.min(pageMessages, end - Math.max(0, from)) }, signal);
      end = page.first_message;
      for (let i = page.messages.length - 1; i >= 0; i--) {
        const m = fromHttp(page.messages[i]!);
        if (of === this.#of && (m.status === "complete" || m.status === "error")) this.#kept.set(end + i, m);
        if (end + i >= from) list.push(m);
      }
      if (page.messages.length === 0) break;
    }
    return list.reverse();
  }
}
