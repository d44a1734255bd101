import type { HarnessMessage, HarnessState } from "../src/protocol.gen.js";

const words = "the quick brown fox jumps over the lazy dog and runs ";

/** A session of some messages and n more, half of them a person's, and one that streams. */
export function session(n: number, begin: readonly HarnessMessage[] = []): HarnessState {
  const messages = Array.from({ length: n }, (_, i): HarnessMessage => {
    const assistant = i % 2 === 1;
    return {
      id: `itm_${i}`,
      role: assistant ? "assistant" : "user",
      content: assistant ? words.repeat(8) : words,
      status: "complete",
      ...(i % 4 === 3 && { toolCalls: [{ id: `call_${i}`, name: "bash", status: "complete", input: { command: "ls" }, output: "ok", at: 40 }] }),
    };
  });
  messages.unshift(...begin);
  messages.push({ id: "itm_live", role: "assistant", content: "", status: "streaming" });
  return { status: "running", messages, sessionId: "ses_1" };
}
