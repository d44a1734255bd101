import type { DeltaOperation } from "./protocol.gen.js";

/** An operation that does not fit the state: the state is as it was. */
export class ApplyError extends Error {
  override readonly name = "ApplyError";
}

type Container = { [key: string]: unknown };

const unsafe = new Set<unknown>(["__proto__", "constructor", "prototype"]);

/**
 * Draft is a transaction on a state that nobody sees changed: each container on
 * the way to a change is copied once, however many operations come, and
 * everything else keeps its identity. The rules are those of assistant-stream's
 * strict accumulator. After an error the draft is of no use any more.
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
      node = node[key] = this.#writable(Object.hasOwn(node, key) ? node[key] : undefined, path, depth + 1);
    }
    const key = keyIn(node, path, last);
    node[key] = leaf(op, Object.hasOwn(node, key) ? node[key] : undefined);
  }

  /** The container at a place, copied unless this draft made it; a missing one is made. */
  #writable(value: unknown, path: readonly (string | number)[], depth: number): Container {
    if (this.#own.has(value)) return value as Container;
    if (value !== undefined && value !== null && typeof value !== "object") {
      throw new ApplyError(`Invalid path: [${path.slice(depth).join(", ")}]`);
    }
    const copy = Array.isArray(value) ? value.slice() : { ...value };
    this.#own.add(copy);
    return copy as Container;
  }
}

/** The key of a path's segment in a container; an array's may be its length at most. */
function keyIn(node: Container, path: readonly (string | number)[], depth: number): string {
  const segment = path[depth]!;
  if (unsafe.has(segment)) throw new ApplyError(`Unsafe path segment: ${segment}`);
  if (!Array.isArray(node)) return segment as string;
  const index = Number(segment);
  if (!Number.isInteger(index) || String(index) !== String(segment)) {
    throw new ApplyError(`Expected array index at [${path.slice(depth).join(", ")}]`);
  }
  if (index < 0 || index > node.length) throw new ApplyError("Insert array index out of bounds");
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
