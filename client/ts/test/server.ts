import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { isDeepStrictEqual } from "node:util";

import { HarnessClient } from "../src/client.js";
import type { HarnessOptions } from "../src/options.js";
import type { HarnessState } from "../src/protocol.gen.js";
import { until } from "../src/until.js";

/** The server under test; undefined if there is none to test against. */
export const binary = process.env.HARNESS_TEST_BIN;

/** Longer than anything takes on a busy machine. */
const patience = 20_000;

/** Server is a real `harness serve` that can be killed and come back. */
export class Server {
  readonly #folder = mkdtempSync(join(tmpdir(), "harness-client-"));
  readonly #args: string[];
  readonly #clients: HarnessClient[] = [];
  #process: ChildProcess | undefined;
  url = "";
  token = "";

  private constructor(script: string, args: string[]) {
    writeFileSync(join(this.#folder, "play.script"), script);
    this.#args = args;
  }

  static async start(script: string, ...args: string[]): Promise<Server> {
    const s = new Server(script, args);
    await s.start();
    return s;
  }

  /** Starts it, at the address that it had before if it had one. */
  async start(): Promise<void> {
    const data = join(this.#folder, "data");
    const address = this.url === "" ? "127.0.0.1:0" : new URL(this.url).host;
    const args = ["serve", "--addr", address, "--data", data, "--cwd", this.#folder, "--snapshots", "off", "--engine", `script:${join(this.#folder, "play.script")}`, ...this.#args];
    const child = spawn(binary!, args, { stdio: ["ignore", "pipe", "pipe"] });
    this.#process = child;
    let errors = "";
    child.stderr!.on("data", (b) => (errors += b));
    for await (const line of createInterface(child.stdout!)) {
      const url = /listens on (http:\S+)/.exec(line)?.[1];
      if (url !== undefined) {
        this.url = url;
        this.token = readFileSync(join(data, "token"), "utf8").trim();
        child.stdout!.resume();
        return;
      }
    }
    throw new Error(`the server did not start: ${errors}`);
  }

  /** kill -9, and waits for the end. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((r) => child.once("exit", r));
    child.kill("SIGKILL");
    await gone;
  }

  client(options: HarnessOptions = {}): HarnessClient {
    const c = new HarnessClient({ url: this.url, token: this.token, ...options });
    this.#clients.push(c);
    return c;
  }

  async open(options: HarnessOptions = {}): Promise<HarnessClient> {
    const c = this.client(options);
    await see(c, "a state", () => true);
    return c;
  }

  /** The state that somebody new is shown. */
  async fresh(sessionId: string): Promise<{ state: HarnessState; seq: number }> {
    const c = await this.open({ sessionId, schedule: "sync" });
    const shown = { state: c.getState()!, seq: c.seq! };
    c.close();
    return shown;
  }

  async end(): Promise<void> {
    this.#clients.forEach((c) => c.close());
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Waits for a state, and says what was there instead if it does not come. */
export async function see(c: HarnessClient, what: string, is: (s: HarnessState) => boolean): Promise<HarnessState> {
  try {
    return await until(c, is, AbortSignal.timeout(patience));
  } catch (e) {
    const state = JSON.stringify(c.getState());
    return assert.fail(`waiting for ${what}: ${e}; connection ${JSON.stringify(c.getConnection())}, state ${state?.slice(0, 300)} … ${state?.slice(-900)}`);
  }
}

/** A session that has nothing to do, with so many messages at least. */
export const idle = (messages: number) => (s: HarnessState) => s.status === "idle" && s.messages.length >= messages && s.messages.at(-1)!.status === "complete";

export const last = (s: HarnessState) => s.messages.at(-1)!;

/** Operations cannot remove a key: a fresh state leaves out what a delta empties. */
export function cleared(state: HarnessState): HarnessState {
  const { error, pendingApprovals, ...rest } = state;
  return { ...rest, ...(error && { error }), ...(pendingApprovals?.length && { pendingApprovals }) };
}

/**
 * What the client has is what somebody new is shown, at the latest when nothing
 * happens any more. Events that show nothing are in the one's seq only.
 */
export async function sameAsFresh(s: Server, c: HarnessClient): Promise<void> {
  const end = Date.now() + patience;
  for (;;) {
    const want = await s.fresh(c.sessionId!);
    const is = () => isDeepStrictEqual(cleared(c.getState()!), cleared(want.state));
    await see(c, `the state at ${want.seq}`, () => is() || c.seq! >= want.seq);
    if (is()) return;
    if (c.seq === want.seq || Date.now() > end) return assert.deepEqual(cleared(c.getState()!), cleared(want.state));
  }
}
