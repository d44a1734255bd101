import type { HarnessClient } from "./client.js";
import { httpOf } from "./http.js";
import { EventPages } from "./pages-events.js";
import { MessagePages } from "./pages-messages.js";

export { type EventFilter, EventPages } from "./pages-events.js";
export { MessagePages } from "./pages-messages.js";

/** What a session has that is too large for a state. */
export interface Pages {
  /** The log. */
  readonly events: EventPages;
  /** The messages that a window leaves out. */
  readonly messages: MessagePages;
}

const made = new WeakMap<HarnessClient, Pages>();

/** The pages of a client's session: the same for everybody who asks, so that each is fetched once. */
export function pagesOf(client: HarnessClient): Pages {
  let pages = made.get(client);
  if (pages === undefined) {
    const http = httpOf(client);
    const session = () => client.sessionId;
    made.set(client, (pages = { events: new EventPages(http, session), messages: new MessagePages(http, session) }));
  }
  return pages;
}
