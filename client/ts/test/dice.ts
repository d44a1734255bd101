/** Dice are the same for the same seed. */
export class Dice {
  #x: number;

  constructor(seed: number) {
    this.#x = seed * 2654435761 + 1;
  }

  /** A number from 0 to n-1. */
  pick(n: number): number {
    this.#x = (this.#x + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#x ^ (this.#x >>> 15), 1 | this.#x);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % n;
  }

  of<T>(list: readonly T[]): T {
    return list[this.pick(list.length)]!;
  }
}
