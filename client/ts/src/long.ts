import { type Container, Draft, type Drafting } from "./apply.js";
import { copied, heldBy, hold, List, release } from "./list.js";

/** An array that is longer than this is not copied for a change of one entry. */
const long = 256;

/** A draft that copies a long array, if it is a property of an object, when somebody reads it, and not before. */
class LongDraft extends Draft {
  protected override read(node: Container, key: string): unknown {
    if (node instanceof List) return node.get(Number(key));
    const its = heldBy(node);
    return its?.key === key ? its.list : super.read(node, key);
  }

  protected override write(node: Container, key: string, value: unknown): void {
    if (node instanceof List) return node.set(Number(key), value);
    const its = heldBy(node);
    if (its?.key !== key) {
      if (value instanceof List) hold(node, key, value);
      else node[key] = value;
    } else if (value instanceof List) its.list = value;
    else release(node, key, value);
  }

  protected override copy(value: object, parent: Container | undefined): object {
    if (value instanceof List) return value.copy();
    if (!Array.isArray(value)) return copied(value);
    const held = value.length > long && parent !== undefined && this.lengthOf(parent) === undefined && heldBy(parent) === undefined;
    return held ? new List(value) : value.slice();
  }

  protected override lengthOf(node: Container): number | undefined {
    return node instanceof List ? node.length : super.lengthOf(node);
  }
}

/**
 * For who keeps all messages of a long session in its state and reads the newest
 * ones with `lastMessages`: an update costs the same however many there are.
 */
export const longLists: Drafting = (state) => new LongDraft(state);
