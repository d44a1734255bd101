import type { Drafting } from "./apply.js";
import type { Backoff } from "./backoff.js";
import type { Endpoint } from "./endpoint.js";
import type { HarnessError } from "./errors.js";
import type { Host, SocketClass } from "./host.js";

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Which session, of which server, and how. */
export interface HarnessOptions extends Endpoint {
  /** This session. Without it the user's default one; without a user a new one. */
  readonly sessionId?: string | undefined;
  readonly userId?: string | undefined;
  /** Only the newest messages, at least so many; older ones are in `pagesOf(client).messages`. */
  readonly window?: number | undefined;
  /** How frames are applied; `longLists` of `harness-client/long` is for states with thousands of messages. */
  readonly draft?: Drafting;
  /** When changes show: before the next paint, or at once. */
  readonly schedule?: "frame" | "sync";
  readonly backoff?: Partial<Backoff>;
  /** How long a command may wait for its acknowledgement, in ms; 30 s unless given. */
  readonly commandLifetime?: number;
  /** After so many ms without a word the line is taken for dead; the server's heart beats every 10 s. */
  readonly silence?: number;
  /** Hears of refusals that belong to no command. */
  readonly onError?: (e: HarnessError) => void;
  readonly WebSocket?: SocketClass;
  readonly fetch?: Fetch;
  readonly host?: Host;
}

/**
 * Where the connection stands. `open`: the state is what the server has, up to
 * the time that a frame takes. `stale`: nothing was heard for longer than a
 * heartbeat, or something did not fit. `closed` is for good, with a reason.
 */
export interface Connection {
  readonly phase: "connecting" | "open" | "stale" | "reconnecting" | "closed";
  /** When this phase began, in ms. */
  readonly since: number;
  /** Attempts in vain since the line was last up. */
  readonly attempt: number;
  readonly reason?: HarnessError;
}
