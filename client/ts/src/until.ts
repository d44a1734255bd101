import type { HarnessClient } from "./client.js";
import type { HarnessState } from "./protocol.gen.js";

/**
 * until waits for a state that satisfies a condition. It fails with the
 * connection's reason if the client is closed, and with the signal's when that
 * is aborted.
 */
export function until(client: HarnessClient, is: (s: HarnessState) => boolean, signal?: AbortSignal): Promise<HarnessState> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      stop();
      signal?.removeEventListener("abort", check);
      settle();
    };
    const check = () => {
      const state = client.getState();
      const connection = client.getConnection();
      if (signal?.aborted) end(() => reject(signal.reason));
      else if (state !== undefined && is(state)) end(() => resolve(state));
      else if (connection.phase === "closed") end(() => reject(connection.reason));
    };
    const stop = client.subscribe(check);
    signal?.addEventListener("abort", check);
    check();
  });
}
