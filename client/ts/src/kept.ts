/** Least recently used goes first. */
export class Kept<V> {
  readonly #most: number;
  readonly #map = new Map<number, V>();

  constructor(most: number) {
    this.#most = most;
  }

  get(key: number): V | undefined {
    const v = this.#map.get(key);
    if (v !== undefined) {
      this.#map.delete(key);
      this.#map.set(key, v);
    }
    return v;
  }

  set(key: number, value: V): void {
    this.#map.delete(key);
    this.#map.set(key, value);
    if (this.#map.size > this.#most) this.#map.delete(this.#map.keys().next().value!);
  }

  clear(): void {
    this.#map.clear();
  }
}
