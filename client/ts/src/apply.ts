import type { DeltaOperation } from "./protocol.gen.js";

/** An operation that does not fit the state: the state is as it was. */
export class ApplyError extends Error {
  override readonly name = "ApplyError";
}

/** An object or an array that is being changed. */
export type Container = { [key: string]: unknown };

type Path = readonly (string | number)[];

const unsafe: Path = ["__proto__", "constructor", "prototype"];

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
    const path: Path = op.path;
    const last = path.length - 1;
    if (last < 0) return void (this.root = leaf(op, this.root));
    let node = (this.root = this.#writable(this.root, path));
    for (let depth = 0; ; depth++) {
      const key = this.#key(node, path, depth);
      const before = this.read(node, key);
      if (depth === last) return this.write(node, key, leaf(op, before));
      const child = this.#writable(before, path, node);
      if (child !== before) this.write(node, key, child);
      node = child;
    }
  }

  protected read(node: Container, key: string): unknown {
    return Object.hasOwn(node, key) ? node[key] : undefined;
  }

  protected write(node: Container, key: string, value: unknown): void {
    node[key] = value;
  }

  /** A copy of what stands in a parent. */
  protected copy(value: object, _parent: Container | undefined): object {
    return Array.isArray(value) ? value.slice() : { ...value };
  }

  /** How long a list is; undefined for what is none. */
  protected lengthOf(node: Container): number | undefined {
    return Array.isArray(node) ? node.length : undefined;
  }

  /** The container at a place, copied unless this draft made it; a missing one is made. */
  #writable(value: unknown, path: Path, parent?: Container): Container {
    if (this.#own.has(value)) return value as Container;
    if (typeof (value ?? {}) !== "object") throw unfit(path);
    const copy = this.copy((value ?? {}) as object, parent);
    this.#own.add(copy);
    return copy as Container;
  }

  /** The key of a path's segment in a container; an array's may be its length at most. */
  #key(node: Container, path: Path, depth: number): string {
    const segment = path[depth]!;
    const length = this.lengthOf(node);
    if (length === undefined ? unsafe.includes(segment) : !/^(0|[1-9]\d*)$/.test(String(segment)) || Number(segment) > length) {
      throw unfit(path);
    }
    return segment as string;
  }
}

function unfit(path: Path): ApplyError {
  return new ApplyError(`does not fit: ${path}`);
}

function leaf(op: DeltaOperation, current: unknown): unknown {
  if (op.type === "set") return op.value;
  if (op.type !== "append-text" || typeof current !== "string") throw unfit((op as DeltaOperation).path);
  return current + op.value;
}

/** How a draft of a state is made. */
export type Drafting = (state: unknown) => Draft;

/** Copies every array on the way to a change; see `harness-client/long`. */
export const plainly: Drafting = (state) => new Draft(state);

/**
 * applyBatch is the state after all operations. Neither the state nor the
 * operations are changed; if one does not fit, none is applied and an
 * {@link ApplyError} is thrown.
 */
export function applyBatch<T>(state: T, operations: Iterable<DeltaOperation>, drafting = plainly): T {
  const draft = drafting(state);
  for (const op of operations) draft.apply(op);
  return draft.root as T;
}
