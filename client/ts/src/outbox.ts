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
 * An outbox keeps commands until they are answered. They go out in order, under
 * ids of their own, and again when the line is back, which the server knows to
 * take as one. A command that is older than its lifetime is given up: an old
 * approval must not fire late. A cancel is never sent twice: it could hit the
 * next turn.
 */
export interface Outbox {
  /** The same array until something changes. */
  pending(): readonly Pending[];
  add(command: HarnessCommand): Promise<Ack>;
  /** The line is up, and the state is known. A plain S0 server sends no acks. */
  opened(acks: boolean): void;
  /** The line broke. */
  lost(): void;
  acknowledged(commandId: string, seq: number): void;
  /** Reports whether the refusal was about a command of ours. */
  refused(commandId: string, code: string, message: string): boolean;
  /** Gives up what is too old. */
  expire(): void;
  close(): void;
}

export function outbox(host: Host, lifetime: number, write: (text: string) => boolean, changed: () => void): Outbox {
  const entries = new Map<string, Entry>();
  let list: readonly Pending[] | undefined;
  let up = false;
  let quiet = false; // the server does not answer commands
  let stop = () => {};
  let stopRetry = () => {};

  const tell = () => {
    list = undefined;
    changed();
  };
  const forget = (e: Entry) => {
    entries.delete(e.commandId);
    tell();
  };
  const fail = (e: Entry, code: string, why: string) => {
    e.reject(new HarnessError(code, why, e.commandId));
    forget(e);
  };
  const old = (e: Entry) => e.since <= host.now() - lifetime;

  const acknowledged = (commandId: string, seq: number) => {
    const e = entries.get(commandId);
    e?.resolve({ commandId, seq });
    if (e) forget(e);
  };
  const flush = () => {
    if (!up) return;
    for (const e of entries.values()) {
      if (e.sent || old(e)) continue; // too old: the timer is late
      if (!write(e.text)) return;
      e.sent = true;
      if (quiet) acknowledged(e.commandId, 0);
    }
    tell();
  };
  /** One timer, for the oldest. */
  const arm = () => {
    stop();
    const first = entries.values().next().value;
    if (first) stop = host.later(expire, Math.max(0, first.since + lifetime - host.now()));
  };
  const expire = () => {
    for (const e of entries.values()) {
      if (old(e)) fail(e, "expired", "not answered in time");
    }
    arm();
  };

  return {
    pending: () => (list ??= Array.from(entries.values(), ({ text, resolve, reject, ...shown }) => shown)),
    add(command) {
      const commandId = command.commandId ?? host.newId();
      const text = JSON.stringify({ type: "commands", commands: [{ ...command, commandId }] });
      return new Promise((resolve, reject) => {
        const refuse = (code: string, why: string) => reject(new HarnessError(code, why, commandId));
        if (new Blob([text]).size > maxMessage) return refuse("too_large", "more than 1 MiB");
        if (entries.size >= maxPending) return refuse("queue_full", "too many commands wait");
        if (entries.has(commandId)) return refuse("exists", "this command waits already");
        entries.set(commandId, { commandId, command, since: host.now(), sent: false, text, resolve, reject });
        flush();
        arm();
        tell();
      });
    },
    opened(acks) {
      quiet = !acks;
      up = true;
      expire();
      flush();
    },
    lost() {
      if (!up) return;
      up = false;
      for (const e of entries.values()) {
        if (e.sent && e.command.type === "cancel") fail(e, "unknown", "the connection broke");
        e.sent = false;
      }
      tell();
    },
    acknowledged,
    refused(commandId, code, message) {
      const e = entries.get(commandId);
      if (!e) return false;
      if ((code === "unavailable" || code === "too_many_requests") && e.command.type !== "cancel") {
        e.sent = false;
        stopRetry();
        stopRetry = host.later(flush, pause);
        tell();
      } else {
        fail(e, code, message);
      }
      return true;
    },
    expire,
    close() {
      up = false;
      stop();
      stopRetry();
      for (const e of entries.values()) fail(e, "closed", "the client is closed");
    },
  };
}
