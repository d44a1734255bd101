import { credential, urlOf } from "./endpoint.js";
import { HarnessError } from "./errors.js";
import type { HarnessOptions } from "./options.js";

/**
 * Why the server lets nobody in, if it says so: a page is not told why a
 * handshake failed, but HTTP says it.
 */
export async function refusal(o: HarnessOptions, sessionId: string | undefined): Promise<HarnessError | undefined> {
  const path = "sessions" + (sessionId === undefined ? "?limit=1" : "/" + encodeURIComponent(sessionId));
  try {
    const answer = await (o.fetch ?? fetch)(urlOf(o, path, {}).href, { headers: credential(o) });
    const code = { 401: "unauthenticated", 403: "forbidden", 404: "not_found" }[answer.status];
    if (code === undefined) return undefined;
    const { detail } = (await answer.json().catch(() => ({}))) as { detail?: string };
    return new HarnessError(code, detail ?? code);
  } catch {
    return undefined; // it was not reached
  }
}
