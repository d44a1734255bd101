import { plainly } from "./apply.js";
import { type Backoff, defaultBackoff, wait } from "./backoff.js";
import { protocols, urlOf } from "./endpoint.js";
import { HarnessError } from "./errors.js";
import { type Host, type SocketClass, thisHost } from "./host.js";
import { follow, type Line } from "./line.js";
import type { Connection, HarnessOptions } from "./options.js";
import { type Ack, type Outbox, outbox, type Pending } from "./outbox.js";
import { refusal } from "./refusal.js";
import type { DeltaMessage, HarnessCommand, HarnessState, ServerMessage } from "./protocol.gen.js";

/** So many frames do not wait to be shown. */
const maxQueued = 5_000;

/** How often the client looks whether the line is alive and time went on as it should. */
const look = 5_000;

/** How long a line may be replaced before it is called a reconnect. */
const unnoticed = 1_000;

/** The server's heart beats every 10 s: after so long it has missed one, after so long more it is stale, then dead. */
const beat = 12_000;
const stale = 15_000;
const dead = 25_000;

/**
 * HarnessClient follows one session. The state is the server's: the client
 * applies what it is told and computes nothing. It reconnects by itself until
 * it is closed or the server says that there is nothing to come back to.
 */
export class HarnessClient {
  readonly options: HarnessOptions;

  readonly #host: Host;
  readonly #backoff: Backoff;
  readonly #outbox: Outbox;
  readonly #listeners = new Set<() => void>();

  #state: HarnessState | undefined;
  #queue: DeltaMessage[] = []; // received and not shown
  #seq: number | undefined; // what the frames received add up to; undefined: nothing is known
  #shown: number | undefined; // what the state adds up to
  #same: number | undefined; // a place that the server counts as ours
  #plain = false; // a server that knows only S0
  #made = false; // the session exists

  #connection!: Connection;
  #line: Line | undefined;
  #known = false; // the line has said where it is
  #down = 0; // since when there is no line
  #up = 0; // since when there is one
  #tick = 0;
  #stopLook = () => {};
  #stopDial = () => {};
  #stopFrame: (() => void) | undefined;
  #stopWake = () => {};
  #stopGrace = () => {};

  constructor(options: HarnessOptions = {}) {
    this.options = options;
    this.#host = options.host ?? thisHost;
    this.#backoff = { ...defaultBackoff, ...options.backoff };
    this.#outbox = outbox(this.#host, options.commandLifetime ?? 30_000, (text) => this.#line?.send(text) ?? false, () => this.#notify());
    this.#down = this.#tick = this.#host.now();
    this.#become("connecting");
    this.#dial(); // a wrong address is told at once
    this.#stopWake = this.#host.onWake((moved = false) => this.#wake(moved));
    this.#watch();
  }

  /** The state, or undefined before the first one came. Its parts keep their identity until they change. */
  readonly getState = (): HarnessState | undefined => this.#state;

  readonly getConnection = (): Connection => this.#connection;

  /** Commands without an answer. */
  readonly getPending = (): readonly Pending[] => this.#outbox.pending();

  /** Calls after every change of state, connection or pending commands. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  get sessionId(): string | undefined {
    return this.#state?.sessionId ?? this.options.sessionId;
  }

  /** The place in the log that the state shows; undefined on a server that knows only S0. */
  get seq(): number | undefined {
    return this.#shown;
  }

  /**
   * Sends a command. It is kept while there is no line, sent again after a
   * reconnect, and given up after its lifetime. The promise is kept when the
   * command is durable; it is broken with a {@link HarnessError} that says why.
   */
  send(command: HarnessCommand): Promise<Ack> {
    if (this.#connection.phase === "closed") return Promise.reject(new HarnessError("closed", "the client is closed"));
    return this.#outbox.add(this.#aimed(command));
  }

  /** Replaces the line at once, without a wait. */
  reconnect(): void {
    if (this.#connection.phase !== "closed") this.#redial();
  }

  close(): void {
    this.#end(new HarnessError("closed", "the client is closed"));
  }

  /** An answer is to the question that was shown, even if another comes up meanwhile. */
  #aimed(command: HarnessCommand): HarnessCommand {
    if ((command.type !== "approve" && command.type !== "deny") || command.requestId !== undefined) return command;
    const asked = this.#state?.pendingApprovals?.find((a) => a.toolCallId === command.toolCallId);
    return asked?.requestId === undefined ? command : { ...command, requestId: asked.requestId };
  }

  #dial(): void {
    this.#stopDial();
    this.#known = false;
    const { sessionId, userId, window } = this.options;
    const Class = this.options.WebSocket ?? (globalThis.WebSocket as unknown as SocketClass | undefined);
    if (Class === undefined) throw new TypeError("no WebSocket: Node 20 needs --experimental-websocket");
    const url = urlOf(this.options, "ws", {
      sessionId: this.#state?.sessionId ?? sessionId,
      userId,
      window,
      since: (window === undefined && this.#seq) || undefined,
      hb: 1,
    });
    url.protocol = url.protocol.replace("http", "ws");
    const line: Line = follow(this.#host, new Class(url.href, protocols(this.options)), {
      message: (m) => this.#line === line && this.#message(m),
      lost: (opened, code, reason) => this.#line === line && this.#lost(opened, code, reason),
    });
    this.#line = line;
  }

  #message(m: ServerMessage): void {
    switch (m.type) {
      case "state":
        this.#plain = m.seq === undefined;
        this.#made ||= m.seq !== 0;
        this.#queue = [];
        this.#same = undefined;
        this.#state = m.state; // what is called open shows its state
        this.#seq = this.#shown = m.seq;
        this.#notify();
        return this.#confirm();
      case "delta":
        if (!this.#plain) {
          if (this.#seq === undefined || m.seq <= this.#seq) return this.#resync(`${m.seq} after ${this.#seq}`);
          this.#seq = m.seq;
          this.#made = true;
        }
        if (this.#known && this.#connection.phase === "stale") this.#confirm();
        return this.#queue.push(m) > maxQueued ? this.#flush() : this.#schedule();
      case "hb":
        return this.#beat(m.seq);
      case "ack":
        return this.#outbox.acknowledged(m.commandId, m.seq);
      case "error":
        if (m.commandId === undefined || !this.#outbox.refused(m.commandId, m.code ?? "internal", m.message)) {
          this.options.onError?.(new HarnessError(m.code ?? "internal", m.message, m.commandId));
        }
        return;
    }
  }

  /**
   * The server says where it believes us to be. Further on may be behind events
   * that show nothing, or a frame was lost: a new line that begins where we are
   * tells which.
   */
  #beat(seq: number): void {
    if (this.#seq === undefined || seq < this.#seq) return this.#resync(`${seq} after ${this.#seq}`);
    if (seq > this.#seq && seq !== this.#same) {
      this.#same = seq;
      return this.#redial();
    }
    this.#confirm();
  }

  /** The line has said that it goes on from the state that is here. */
  #confirm(): void {
    if (!this.#known) {
      this.#known = true;
      this.#up = this.#host.now();
      this.#stopGrace();
      this.#stopGrace = () => {};
      this.#outbox.opened(!this.#plain);
    }
    if (this.#connection.phase !== "open") this.#become("open");
  }

  /** What is here cannot be trusted: ask for all of it. */
  #resync(why: string): void {
    this.#seq = this.#same = undefined;
    this.#queue = [];
    this.#become("stale", new HarnessError("conflict", why));
    const young = this.#known && this.#host.now() - this.#up < beat;
    if (young) return this.#retry(); // again and again it would keep the server busy
    this.#redial();
  }

  /** A new line at once. Nobody is told unless it takes long. */
  #redial(): void {
    this.#line?.drop();
    this.#outbox.lost();
    this.#down = this.#host.now();
    this.#stopGrace();
    this.#stopGrace = this.#host.later(() => {
      if (!this.#known) this.#show({ ...this.#connection, phase: "reconnecting", since: this.#down });
    }, unnoticed);
    this.#dial();
  }

  #lost(opened: boolean, code: number, reason: string): void {
    this.#outbox.lost();
    if (code === 1008) return this.#end(new HarnessError("unauthenticated", reason || "the credential has ended"));
    if (this.#known) this.#down = this.#host.now();
    this.#stopGrace();
    this.#show({
      phase: this.#state === undefined ? "connecting" : "reconnecting",
      since: this.#down,
      attempt: this.#known ? 0 : this.#connection.attempt + 1,
      reason: new HarnessError("network", reason || `closed (${code})`),
    });
    if (opened) this.#retry();
    else void this.#diagnose();
  }

  /** A page is not told why a handshake failed; HTTP says it. */
  async #diagnose(): Promise<void> {
    const line = this.#line;
    const refused = await refusal(this.options, this.sessionId);
    if (this.#line !== line || this.#connection.phase === "closed") return;
    if (refused !== undefined) {
      const { userId, sessionId } = this.options;
      if (refused.code !== "not_found" || (userId === undefined && (sessionId !== undefined || this.#made))) return this.#end(refused);
      if (userId === undefined) {
        this.#state = undefined; // it was never made: the next line begins another
        this.#show({ ...this.#connection, phase: "connecting" });
      } // a user's session is made by its first command
    }
    this.#retry();
  }

  #retry(): void {
    this.#line?.drop();
    this.#outbox.lost();
    this.#stopDial();
    this.#known = false;
    const ms = wait(this.#host.now() - this.#down, this.#backoff, this.#host.random());
    this.#stopDial = this.#host.later(() => this.#dial(), ms);
  }

  /** Looks every few seconds whether the line is alive, and whether the machine slept. */
  #watch(): void {
    this.#stopLook = this.#host.later(() => {
      const slept = this.#host.now() - this.#tick > 3 * look;
      this.#tick = this.#host.now();
      this.#watch();
      if (slept) return this.#wake(true);
      const silence = this.options.silence ?? dead;
      if (!this.#known || this.#plain || this.#line === undefined) return;
      if (this.#line.silence() >= silence) return this.#redial();
      if (this.#line.silence() >= stale && this.#connection.phase === "open") {
        this.#become("stale");
      }
    }, look);
  }

  /** Somebody looks again, the network is another, or the machine slept: a wait ends, and a line that may be dead is replaced. */
  #wake(dead: boolean): void {
    if (this.#connection.phase === "closed") return;
    this.#outbox.expire();
    if (this.#known) {
      if (dead || (!this.#plain && (this.#line?.silence() ?? 0) > beat)) this.#redial();
    } else if (this.#connection.attempt > 0 || this.#connection.phase === "reconnecting") {
      this.#line?.drop();
      this.#dial();
    }
  }

  #schedule(): void {
    if (this.options.schedule === "sync") return this.#flush();
    this.#stopFrame ??= this.#host.frame(() => {
      this.#stopFrame = undefined;
      this.#flush();
    });
  }

  /** Applies everything that came, as one change. */
  #flush(): void {
    this.#stopFrame?.();
    this.#stopFrame = undefined;
    const queue = this.#queue;
    if (queue.length === 0) return;
    this.#queue = [];
    const draft = (this.options.draft ?? plainly)(this.#state);
    try {
      for (const m of queue) for (const op of m.operations) draft.apply(op);
    } catch (e) {
      return this.#resync(String(e));
    }
    this.#state = draft.root as HarnessState;
    this.#shown = queue.at(-1)!.seq;
    this.#notify();
  }

  #become(phase: Connection["phase"], reason?: HarnessError): void {
    this.#show({ phase, since: this.#host.now(), attempt: 0, ...(reason && { reason }) });
  }

  #show(c: Connection): void {
    this.#connection = c;
    this.#notify();
  }

  #end(reason: HarnessError): void {
    if (this.#connection.phase === "closed") return;
    this.#line?.drop();
    this.#line = undefined;
    for (const stop of [this.#stopLook, this.#stopDial, this.#stopWake, this.#stopGrace]) stop();
    this.#stopFrame?.();
    this.#outbox.close();
    this.#become("closed", reason);
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
