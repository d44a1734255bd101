import { heldBy } from "./list.js";
import type { HarnessMessage, HarnessState } from "./protocol.gen.js";

/**
 * lastMessages is the newest n messages of a state. With `longLists` it costs
 * the same however many there are, unlike `state.messages`.
 */
export function lastMessages(state: HarnessState, n: number): readonly HarnessMessage[] {
  const its = heldBy(state);
  if (its?.key === "messages") return its.list.last(n) as HarnessMessage[];
  return state.messages.slice(Math.max(0, state.messages.length - n));
}
