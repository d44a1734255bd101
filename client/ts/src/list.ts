/** How many entries of a list are changed beside it before it is copied as a whole. */
const maxEdits = 64;

/**
 * List is an array with some entries written over, or added behind: a change
 * costs the same however long the array is. Nobody sees it; who reads the
 * property it stands for gets {@link List.array}.
 */
export class List {
  #base: readonly unknown[];
  #places: number[]; // of what was changed
  #values: unknown[];
  length: number;

  constructor(base: readonly unknown[], places: number[] = [], values: unknown[] = [], length = base.length) {
    this.#base = base;
    this.#places = places;
    this.#values = values;
    this.length = length;
  }

  copy(): List {
    return new List(this.#base, this.#places.slice(), this.#values.slice(), this.length);
  }

  get(i: number): unknown {
    const n = this.#places.lastIndexOf(i);
    return n < 0 ? this.#base[i] : this.#values[n];
  }

  /** i is the length at most. */
  set(i: number, value: unknown): void {
    const n = this.#places.lastIndexOf(i);
    if (n >= 0) return void (this.#values[n] = value);
    if (this.#places.length >= maxEdits) this.array();
    this.#places.push(i);
    this.#values.push(value);
    if (i === this.length) this.length++;
  }

  /** All entries: the same array until one of them is set. It must not be written to. */
  array(): readonly unknown[] {
    if (this.#places.length > 0) {
      const whole = this.#base.slice();
      this.#places.forEach((i, n) => void (whole[i] = this.#values[n]));
      this.#base = whole;
      this.#places = [];
      this.#values = [];
    }
    return this.#base;
  }

  /** The last n entries. */
  last(n: number): unknown[] {
    const first = Math.max(0, this.length - n);
    const list = this.#base.slice(first);
    this.#places.forEach((i, at) => i >= first && (list[i - first] = this.#values[at]));
    return list;
  }
}

/** The one property of an object that is a list. */
export interface Held {
  readonly key: string;
  list: List;
}

/** Constructs what it is given, so that a class can put a private field there: a WeakMap costs a tenth of an update. */
const Given = function (o: object) {
  return o;
} as unknown as new (o: object) => object;

class Holder extends Given {
  #its: Held | undefined;

  constructor(o: object, its: Held) {
    super(o);
    this.#its = its;
  }

  static of(o: object): Held | undefined {
    return #its in o ? o.#its : undefined;
  }

  static put(o: object, its: Held | undefined): void {
    if (#its in o) o.#its = its;
    else if (its !== undefined) new Holder(o, its);
  }
}

export const heldBy = (o: object): Held | undefined => Holder.of(o);

/** Lets a property of o be a list: an array for everybody who reads it. */
export function hold(o: object, key: string, list: List): void {
  const its: Held = { key, list };
  Holder.put(o, its);
  Object.defineProperty(o, key, { get: () => its.list.array(), enumerable: true, configurable: true });
}

/** Makes a property that was a list one like the others. */
export function release(o: object, key: string, value: unknown): void {
  Holder.put(o, undefined);
  define(o, key, value);
}

function define(o: object, key: string, value: unknown): void {
  Object.defineProperty(o, key, { value, writable: true, enumerable: true, configurable: true });
}

/** A copy of an object that does not read its list. */
export function copied(o: object): object {
  const its = Holder.of(o);
  if (its === undefined) return { ...o };
  const copy: { [key: string]: unknown } = {};
  for (const key of Object.keys(o)) {
    if (key === its.key) hold(copy, key, its.list);
    else if (key === "__proto__") define(copy, key, o[key as never]);
    else copy[key] = (o as typeof copy)[key];
  }
  return copy;
}
