import type { Message } from "./http.gen.js";
import type { HarnessMessage } from "./protocol.gen.js";

/** A message of the REST side in S0's form. */
export function fromHttp(m: Message): HarnessMessage {
  const { item_id: id, tool_calls: calls, role, content, status, reasoning } = m;
  return {
    id,
    role,
    content,
    status,
    ...(reasoning !== undefined && { reasoning }),
    ...(calls !== undefined && {
      toolCalls: calls.map((c) => ({
        id: c.tool_call_id,
        name: c.name,
        status: c.status === "awaiting_approval" ? ("awaiting-approval" as const) : c.status,
        at: c.at,
        ...(c.input !== undefined && c.input !== null && { input: c.input as { readonly [key: string]: unknown } }),
        ...(c.output !== undefined && { output: c.output }),
        ...(c.output_bytes !== undefined && { outputBytes: c.output_bytes }),
      })),
    }),
  };
}
