/** How long to wait before the next attempt to connect. */
export interface Backoff {
  /** The longest first wait, in ms. */
  readonly min: number;
  /** The longest wait at all, in ms. */
  readonly max: number;
}

export const defaultBackoff: Backoff = { min: 250, max: 10_000 };

/**
 * A part, by a roll from 0 to 1, of a quarter of the outage so far: a server that restarts is
 * found within a second, one that is gone for long is asked every few seconds,
 * and a thousand clients do not come at once.
 */
export function wait(outage: number, b: Backoff, roll: number): number {
  return roll * Math.min(b.max, Math.max(b.min, outage / 4));
}
