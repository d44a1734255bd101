import { HarnessError } from "./errors.js";
import type { Host } from "./host.js";
import type { HarnessCommand } from "./protocol.gen.js";

/** The server has made a command durable; who has seen `seq` has seen its effect. */
export interface Ack {
  readonly commandId: string;
  readonly seq: number;
}

/** A command without an answer. */
export interface Pending {
  readonly commandId: string;
  readonly command: HarnessCommand;
  /** When it was given, in ms. */
  readonly since: number;
  /** Whether it was written to the line that is up now. */
  readonly sent: boolean;
}

interface Entry extends Pending {
  sent: boolean;
  text: string;
  resolve(a: Ack): void;
  reject(e: HarnessError): void;
}

/** What the server takes in one message. */
const maxMessage = 1 << 20;

/** More than this waits for nobody: a program that sends so much must look at the answers. */
const maxPending = 256;

/** How long to let a server be that had no time for a command. */
const pause = 1000;

/**
 * Outbox keeps commands until they are answered. They go out in order, under
 * ids of their own, and again when the line is back, which the server knows to
 * take as one. A command that is older than its lifetime is given up: an old
 * approval must not fire late. A cancel is never sent twice: it could hit the
 * next turn.
 */
export class Outbox {
  readonly #host: Host;
  readonly #lifetime: number;
  readonly #write: (text: string) => boolean;
  readonly #changed: () => void;
  readonly #entries = new Map<string, Entry>();
  #list: readonly Pending[] | undefined;
  #up = false;
  #quiet = false; // the server does not answer commands
  #stop = () => {};
  #retry = () => {};

  constructor(host: Host, lifetime: number, write: (text: string) => boolean, changed: () => void) {
    this.#host = host;
    this.#lifetime = lifetime;
    this.#write = write;
    this.#changed = changed;
  }

  /** The same array until something changes. */
  get pending(): readonly Pending[] {
    return (this.#list ??= Array.from(this.#entries.values(), ({ commandId, command, since, sent }) => ({ commandId, command, since, sent })));
  }

  add(command: HarnessCommand): Promise<Ack> {
    const commandId = command.commandId ?? this.#host.newId();
    const text = JSON.stringify({ type: "commands", commands: [{ ...command, commandId }] });
    return new Promise((resolve, reject) => {
      if (text.length * 3 > maxMessage && new TextEncoder().encode(text).length > maxMessage) {
        return reject(new HarnessError("too_large", "the command is larger than 1 MiB", commandId));
      }
      if (this.#entries.size >= maxPending) {
        return reject(new HarnessError("queue_full", `${maxPending} commands wait for their answers`, commandId));
      }
      if (this.#entries.has(commandId)) {
        return reject(new HarnessError("exists", "a command with this id waits for its answer", commandId));
      }
      this.#entries.set(commandId, { commandId, command, since: this.#host.now(), sent: false, text, resolve, reject });
      this.#flush();
      this.#arm();
      this.#tell();
    });
  }

  /** The line is up, and the state is known. A plain S0 server sends no acks. */
  opened(acks: boolean): void {
    this.#quiet = !acks;
    this.#up = true;
    this.expire();
    this.#flush();
  }

  /** The line broke. */
  lost(): void {
    if (!this.#up) return;
    this.#up = false;
    for (const e of this.#entries.values()) {
      if (e.sent && e.command.type === "cancel") {
        this.#end(e, () => e.reject(new HarnessError("unknown", "the connection broke before the server answered", e.commandId)));
      }
      e.sent = false;
    }
    this.#tell();
  }

  acknowledged(commandId: string, seq: number): void {
    const e = this.#entries.get(commandId);
    if (e) this.#end(e, () => e.resolve({ commandId, seq }));
  }

  /** Reports whether the refusal was about a command of ours. */
  refused(commandId: string, code: string, message: string): boolean {
    const e = this.#entries.get(commandId);
    if (!e) return false;
    if ((code === "unavailable" || code === "too_many_requests") && e.command.type !== "cancel") {
      e.sent = false;
      this.#retry();
      this.#retry = this.#host.later(() => this.#flush(), pause);
      this.#tell();
    } else {
      this.#end(e, () => e.reject(new HarnessError(code, message, commandId)));
    }
    return true;
  }

  /** Gives up what is too old. */
  expire(): void {
    const old = this.#host.now() - this.#lifetime;
    for (const e of this.#entries.values()) {
      if (e.since <= old) {
        this.#end(e, () => e.reject(new HarnessError("expired", `not acknowledged within ${this.#lifetime / 1000} s; it will not be sent again`, e.commandId)));
      }
    }
    this.#arm();
  }

  close(): void {
    this.#up = false;
    this.#stop();
    this.#retry();
    for (const e of this.#entries.values()) {
      this.#end(e, () => e.reject(new HarnessError("closed", "the client was closed before the server answered", e.commandId)));
    }
  }

  #flush(): void {
    if (!this.#up) return;
    for (const e of this.#entries.values()) {
      if (e.sent) continue;
      if (e.since <= this.#host.now() - this.#lifetime) continue; // the timer is late
      if (!this.#write(e.text)) return;
      e.sent = true;
      if (this.#quiet) this.#end(e, () => e.resolve({ commandId: e.commandId, seq: 0 }));
    }
    this.#tell();
  }

  #end(e: Entry, settle: () => void): void {
    this.#entries.delete(e.commandId);
    settle();
    this.#tell();
  }

  /** One timer, for the oldest. */
  #arm(): void {
    this.#stop();
    const first = this.#entries.values().next().value;
    if (first) this.#stop = this.#host.later(() => this.expire(), Math.max(0, first.since + this.#lifetime - this.#host.now()));
  }

  #tell(): void {
    this.#list = undefined;
    this.#changed();
  }
}
