/** As much of the WebSocket interface as is used; browsers and Node have it. */
export interface Socket {
  readonly readyState: number;
  readonly protocol: string;
  onopen: ((e: never) => void) | null;
  onmessage: ((e: { readonly data: unknown }) => void) | null;
  onclose: ((e: { readonly code: number; readonly reason: string }) => void) | null;
  onerror: ((e: never) => void) | null;
  send(text: string): void;
  close(code?: number, reason?: string): void;
}

export type SocketClass = new (url: string, protocols?: string[]) => Socket;

/**
 * What a client needs of the place it runs in. {@link thisHost} is the page or
 * the process; tests give another.
 */
export interface Host {
  /** Milliseconds that also pass while the machine sleeps. */
  now(): number;
  random(): number;
  later(run: () => void, ms: number): () => void;
  /** Runs before the next paint, or soon where nothing is painted. */
  frame(run: () => void): () => void;
  hidden(): boolean;
  /** Calls when the page is shown again, or the network is back: then `moved` is true, and lines from before are dead. */
  onWake(call: (moved?: boolean) => void): () => void;
  newId(): string;
}

/** How often a tab that nobody sees is brought up to date. */
const hiddenFrame = 100;

export const thisHost: Host = {
  now: () => Date.now(),
  random: Math.random,
  later(run, ms) {
    const t = setTimeout(run, ms);
    return () => clearTimeout(t);
  },
  frame(run) {
    if (!globalThis.requestAnimationFrame || this.hidden()) return this.later(run, globalThis.document ? hiddenFrame : 0);
    // A tab that is hidden meanwhile gets no frame any more.
    const id = requestAnimationFrame(() => (cancel(), run()));
    const cancel = this.later(() => (cancelAnimationFrame(id), run()), hiddenFrame);
    return () => (cancelAnimationFrame(id), cancel());
  },
  hidden: () => globalThis.document?.hidden === true,
  onWake(call) {
    const end = new AbortController();
    globalThis.document?.addEventListener("visibilitychange", () => this.hidden() || call(), end);
    globalThis.addEventListener?.("pageshow", () => call(), end);
    globalThis.addEventListener?.("online", () => call(true), end);
    return () => end.abort();
  },
  newId: () => "cmd_" + crypto.getRandomValues(new Uint32Array(4)).join("_"), // randomUUID needs a secure context
};
