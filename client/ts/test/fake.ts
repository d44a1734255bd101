import { HarnessClient } from "../src/client.js";
import type { Host, Socket } from "../src/host.js";
import type { HarnessOptions } from "../src/options.js";
import type { HarnessState, ServerMessage } from "../src/protocol.gen.js";

/** FakeHost is a place where time passes only when a test says so. */
export class FakeHost implements Host {
  time = 1_000_000;
  rolls: number[] = [];
  invisible = false;
  #timers: { at: number; run: () => void }[] = [];
  #frames = new Set<() => void>();
  #wakers = new Set<(moved?: boolean) => void>();
  #ids = 0;

  now = () => this.time;
  random = () => this.rolls.shift() ?? 0.5;
  hidden = () => this.invisible;
  newId = () => `cmd_${++this.#ids}`;

  later = (run: () => void, ms: number) => {
    const t = { at: this.time + ms, run };
    this.#timers.push(t);
    return () => void (this.#timers = this.#timers.filter((x) => x !== t));
  };

  frame = (run: () => void) => {
    if (this.invisible) return this.later(run, 100);
    this.#frames.add(run);
    return () => void this.#frames.delete(run);
  };

  onWake = (call: (moved?: boolean) => void) => {
    this.#wakers.add(call);
    return () => void this.#wakers.delete(call);
  };

  get timers(): number {
    return this.#timers.length;
  }

  /** The next paint. */
  paint(): number {
    const due = [...this.#frames];
    this.#frames.clear();
    due.forEach((run) => run());
    return due.length;
  }

  /** Somebody looks at the page again. */
  wake(moved?: boolean): void {
    [...this.#wakers].forEach((call) => call(moved));
  }

  advance(ms: number): void {
    const end = this.time + ms;
    for (;;) {
      const next = this.#timers.filter((t) => t.at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.#timers = this.#timers.filter((t) => t !== next);
      this.time = Math.max(this.time, next.at);
      next.run();
    }
    this.time = end;
  }

  /** The machine sleeps: time passes, and what was due runs once afterwards. */
  sleep(ms: number): void {
    this.time += ms;
    this.advance(0);
  }
}

/** FakeSocket is the server's end as a test plays it. */
export class FakeSocket implements Socket {
  static all: FakeSocket[] = [];
  readyState = 0;
  protocol = "harness.v1";
  onopen: Socket["onopen"] = null;
  onmessage: Socket["onmessage"] = null;
  onclose: Socket["onclose"] = null;
  onerror: Socket["onerror"] = null;
  readonly sent: { type: string; commandId: string; [k: string]: unknown }[] = [];
  readonly query: URLSearchParams;
  closed = false;

  constructor(
    readonly url: string,
    readonly protocols: string[] = [],
  ) {
    this.query = new URL(url).searchParams;
    FakeSocket.all.push(this);
  }

  send(text: string): void {
    this.sent.push(...(JSON.parse(text) as { commands: [] }).commands);
  }

  close(): void {
    this.readyState = 3;
    this.closed = true;
  }

  /** The server speaks. */
  tell(...messages: (ServerMessage | object)[]): this {
    this.readyState = this.readyState === 0 ? 1 : this.readyState;
    for (const m of messages) this.onmessage?.({ data: JSON.stringify(m) });
    return this;
  }

  state(seq: number | undefined, state: Partial<HarnessState> = {}): this {
    return this.tell({ type: "state", seq, state: { status: "idle", messages: [], sessionId: "ses_1", ...state } });
  }

  say(seq: number, text: string, message = 0): this {
    return this.tell({ type: "delta", seq, operations: [{ type: "append-text", path: ["messages", String(message), "content"], value: text }] });
  }

  ack(id: string, seq = 1): this {
    return this.tell({ type: "ack", commandId: id, seq });
  }

  refuse(id: string | undefined, code: string): this {
    return this.tell({ type: "error", code, message: code, ...(id && { commandId: id }) });
  }

  hb(seq: number): this {
    return this.tell({ type: "hb", seq, ts: "" });
  }

  /** The line breaks. */
  break(code = 1006, reason = ""): void {
    this.readyState = 3;
    this.onclose?.({ code, reason });
  }
}

export interface Stage {
  client: HarnessClient;
  host: FakeHost;
  sockets: FakeSocket[];
  /** The newest socket. */
  socket(): FakeSocket;
  answers: ((path: string) => Response)[];
}

/** A client on a fake host. HTTP answers 200 unless the test puts something before. */
export function stage(options: HarnessOptions = {}): Stage {
  const host = new FakeHost();
  const sockets: FakeSocket[] = [];
  const answers: ((path: string) => Response)[] = [];
  class Mine extends FakeSocket {
    constructor(url: string, protocols?: string[]) {
      super(url, protocols);
      sockets.push(this);
    }
  }
  const client = new HarnessClient({
    url: "http://server.test",
    WebSocket: Mine,
    host,
    fetch: async (url) => answers.shift()?.(url) ?? Response.json({}),
    ...options,
  });
  return { client, host, sockets, answers, socket: () => sockets.at(-1)! };
}

export const streaming = (content = ""): HarnessState["messages"] => [{ id: "m", role: "assistant", status: "streaming", content }];

/** Lets promises that are kept run their course. */
export const settle = () => new Promise<void>((r) => setImmediate(r));
