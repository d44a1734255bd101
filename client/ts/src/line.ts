import type { Host, Socket } from "./host.js";
import type { ServerMessage } from "./protocol.gen.js";

/** What a line tells its owner. After `lost` nothing comes. */
export interface LineEvents {
  message(m: ServerMessage): void;
  /** opened: whether the handshake had succeeded. */
  lost(opened: boolean, code: number, reason: string): void;
}

/** A line is one socket from its first byte to its last. */
export interface Line {
  /** How long nothing has been heard, in ms. */
  silence(): number;
  /** Reports whether the socket took the text. */
  send(text: string): boolean;
  /** Ends it without a word to the owner. */
  drop(): void;
}

/** How long a server may take for its first message. */
const patience = 10_000;

export function follow(host: Host, socket: Socket, events: LineEvents): Line {
  let opened = false;
  let done = false;
  let heard = host.now();
  const drop = () => {
    if (done) return;
    done = true;
    stop();
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.onerror = () => {};
    try {
      socket.close(1000);
    } catch {
      // it was not open yet, and its implementation minds
    }
  };
  const lose = (code: number, reason: string) => {
    if (done) return;
    drop();
    events.lost(opened, code, reason);
  };
  const stop = host.later(() => lose(1006, "no answer"), patience);
  socket.onopen = () => void (opened = true);
  socket.onerror = () => lose(1006, ""); // Node 20 says nothing else when a handshake fails
  socket.onclose = (e) => lose(e.code, e.reason);
  socket.onmessage = (e) => {
    if (done) return;
    opened = true;
    heard = host.now();
    stop();
    let m: ServerMessage;
    try {
      m = JSON.parse(e.data as string) as ServerMessage;
    } catch {
      return lose(1007, "no JSON");
    }
    events.message(m);
  };
  return {
    silence: () => host.now() - heard,
    send(text) {
      if (done || socket.readyState !== 1) return false;
      socket.send(text);
      return true;
    },
    drop,
  };
}
