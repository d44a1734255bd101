import type { Host, Socket } from "./host.js";
import type { ServerMessage } from "./protocol.gen.js";

/** What a line tells its owner. After `lost` nothing comes. */
export interface LineEvents {
  message(m: ServerMessage): void;
  /** opened: whether the handshake had succeeded. */
  lost(opened: boolean, code: number, reason: string): void;
}

/** How long a server may take for its first message. */
const patience = 10_000;

/** Line is one socket from its first byte to its last. */
export class Line {
  readonly #host: Host;
  readonly #socket: Socket;
  readonly #events: LineEvents;
  #opened = false;
  #done = false;
  #heard: number;
  #stop: () => void;

  constructor(host: Host, dial: () => Socket, events: LineEvents) {
    this.#host = host;
    this.#events = events;
    this.#heard = host.now();
    this.#socket = dial();
    this.#stop = host.later(() => this.#lose(1006, "no answer"), patience);
    this.#socket.onopen = () => void (this.#opened = true);
    this.#socket.onmessage = (e) => this.#message(e.data);
    this.#socket.onerror = () => this.#lose(1006, ""); // Node 20 says nothing else when a handshake fails
    this.#socket.onclose = (e) => this.#lose(e.code, e.reason);
  }

  /** How long nothing has been heard, in ms. */
  get silence(): number {
    return this.#host.now() - this.#heard;
  }

  /** Reports whether the socket took the text. */
  send(text: string): boolean {
    if (this.#done || this.#socket.readyState !== 1) return false;
    this.#socket.send(text);
    return true;
  }

  /** Ends it without a word to the owner. */
  drop(): void {
    if (this.#done) return;
    this.#done = true;
    this.#stop();
    this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null;
    this.#socket.onerror = () => {};
    try {
      this.#socket.close(1000);
    } catch {
      // it was not open yet, and its implementation minds
    }
  }

  #message(data: unknown): void {
    if (this.#done) return;
    this.#opened = true;
    this.#heard = this.#host.now();
    this.#stop();
    let m: ServerMessage;
    try {
      m = JSON.parse(data as string) as ServerMessage;
    } catch {
      return this.#lose(1007, "the server sent no JSON");
    }
    this.#events.message(m);
  }

  #lose(code: number, reason: string): void {
    if (this.#done) return;
    this.drop();
    this.#events.lost(this.#opened, code, reason);
  }
}
