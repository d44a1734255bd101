import { copied, heldBy, hold, List, release } from "./list.js";
import type { DeltaOperation, HarnessMessage, HarnessState } from "./protocol.gen.js";

/** An operation that does not fit the state: the state is as it was. */
export class ApplyError extends Error {
  override readonly name = "ApplyError";
}

type Container = { [key: string]: unknown };

const unsafe = new Set<unknown>(["__proto__", "constructor", "prototype"]);

/** An array that is longer than this is not copied for a change of one entry. */
const long = 256;

/**
 * Draft is a transaction on a state that nobody sees changed: each container on
 * the way to a change is copied once, however many operations come, and
 * everything else keeps its identity. A long array that is a property of an
 * object is copied when somebody reads it, and not before. The rules are those
 * of assistant-stream's strict accumulator. After an error the draft is of no
 * use any more.
 */
export class Draft {
  /** The state so far. What it shares with the first one must not be written to. */
  root: unknown;
  readonly #own = new Set<unknown>(); // the containers that it made

  constructor(state: unknown) {
    this.root = state;
  }

  apply(op: DeltaOperation): void {
    const path: readonly (string | number)[] = op.path;
    const last = path.length - 1;
    if (last < 0) {
      this.root = leaf(op, this.root);
      return;
    }
    let node = (this.root = this.#writable(this.root, path, 0));
    for (let depth = 0; depth < last; depth++) {
      const key = keyIn(node, path, depth);
      const before = read(node, key);
      const child = this.#writable(before, path, depth + 1, node);
      if (child !== before) write(node, key, child);
      node = child;
    }
    const key = keyIn(node, path, last);
    write(node, key, leaf(op, read(node, key)));
  }

  /** The container at a place, copied unless this draft made it; a missing one is made. */
  #writable(value: unknown, path: readonly (string | number)[], depth: number, parent?: Container | List): Container | List {
    if (this.#own.has(value)) return value as Container | List;
    if (value !== undefined && value !== null && typeof value !== "object") {
      throw new ApplyError(`Invalid path: [${path.slice(depth).join(", ")}]`);
    }
    let copy: unknown;
    if (value instanceof List) copy = value.copy();
    else if (!Array.isArray(value)) copy = copied(value ?? {});
    else if (value.length > long && parent !== undefined && !isList(parent) && heldBy(parent) === undefined) copy = new List(value);
    else copy = value.slice();
    this.#own.add(copy);
    return copy as Container | List;
  }
}

function isList(node: Container | List): boolean {
  return node instanceof List || Array.isArray(node);
}

function read(node: Container | List, key: string): unknown {
  if (node instanceof List) return node.get(Number(key));
  const its = heldBy(node);
  if (its?.key === key) return its.list;
  return Object.hasOwn(node, key) ? node[key] : undefined;
}

function write(node: Container | List, key: string, value: unknown): void {
  if (node instanceof List) return node.set(Number(key), value);
  const its = heldBy(node);
  if (its?.key !== key) {
    if (value instanceof List) hold(node, key, value);
    else node[key] = value;
  } else if (value instanceof List) its.list = value;
  else release(node, key, value);
}

/** The key of a path's segment in a container; an array's may be its length at most. */
function keyIn(node: Container | List, path: readonly (string | number)[], depth: number): string {
  const segment = path[depth]!;
  if (unsafe.has(segment)) throw new ApplyError(`Unsafe path segment: ${segment}`);
  if (!isList(node)) return segment as string;
  const index = Number(segment);
  if (!Number.isInteger(index) || String(index) !== String(segment)) {
    throw new ApplyError(`Expected array index at [${path.slice(depth).join(", ")}]`);
  }
  if (index < 0 || index > (node.length as number)) throw new ApplyError("Insert array index out of bounds");
  return segment as string;
}

function leaf(op: DeltaOperation, current: unknown): unknown {
  switch (op.type) {
    case "set":
      return op.value;
    case "append-text":
      if (typeof current !== "string") throw new ApplyError(`Expected string at path [${op.path.join(", ")}]`);
      return current + op.value;
    default:
      throw new ApplyError(`Invalid operation type: ${(op as { type: unknown }).type}`);
  }
}

/**
 * applyBatch is the state after all operations. Neither the state nor the
 * operations are changed; if one does not fit, none is applied and an
 * {@link ApplyError} is thrown.
 */
export function applyBatch<T>(state: T, operations: Iterable<DeltaOperation>): T {
  const draft = new Draft(state);
  for (const op of operations) draft.apply(op);
  return draft.root as T;
}

/**
 * lastMessages is the newest n messages of a state. Unlike `state.messages` it
 * costs the same however many there are.
 */
export function lastMessages(state: HarnessState, n: number): readonly HarnessMessage[] {
  const its = heldBy(state);
  if (its?.key === "messages") return its.list.last(n) as HarnessMessage[];
  return state.messages.slice(Math.max(0, state.messages.length - n));
}
