import type { ErrorMessage } from "./protocol.gen.js";

/**
 * Why something failed: a code of the server, or one of the client's own:
 *
 * - `expired`: not acknowledged in time; it will not be sent again
 * - `unknown`: the line broke; whether it took effect only the state can tell
 * - `closed`: the client is closed
 * - `network`: an HTTP request did not reach the server
 */
export type ErrorCode = ErrorMessage["code"] | "expired" | "unknown" | "closed" | "network" | (string & {});

export class HarnessError extends Error {
  override readonly name = "HarnessError";
  readonly code: ErrorCode;
  readonly commandId: string | undefined;

  constructor(code: ErrorCode, message: string, commandId?: string) {
    super(message);
    this.code = code;
    this.commandId = commandId;
  }
}
