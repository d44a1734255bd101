import type { Span } from "./spans";
import { clock } from "../../ui/clock";

/** Silence longer than this is drawn as a gap of this length. */
const fold = 4000;

/** Time without its long silences. */
export interface Axis {
  readonly place: (at: number) => number;
  readonly length: number;
  readonly gaps: readonly { readonly at: number; readonly ms: number }[];
  /** What is between the gaps. */
  readonly parts: readonly { readonly from: number; readonly to: number }[];
}

export function axisOf(spans: readonly Span[]): Axis {
  const edges = [...new Set(spans.flatMap((s) => [s.from, s.to]))].sort((a, b) => a - b);
  const busy = [...spans].sort((a, b) => a.from - b.from);
  const cuts: { from: number; to: number }[] = [];
  const begin = edges[0] ?? 0, end = edges.at(-1) ?? 1;
  let until = begin;
  for (const s of busy) {
    if (s.from - until > fold) cuts.push({ from: until, to: s.from });
    until = Math.max(until, s.to);
  }
  for (const s of spans) if (s.lane === "wait" && s.to - s.from > 5 * fold && !busy.some((o) => o !== s && o.from < s.to && o.to > s.from)) cuts.push({ from: s.from + fold, to: s.to - fold });
  cuts.sort((a, b) => a.from - b.from);
  const place = (at: number) => {
    let x = at - begin;
    for (const c of cuts) {
      if (at >= c.to) x -= c.to - c.from - fold;
      else if (at > c.from) x -= (at - c.from) * (1 - fold / (c.to - c.from));
    }
    return x;
  };
  const parts = [begin, ...cuts.map((c) => c.to)].map((from, i) => ({ from, to: cuts[i]?.from ?? end }));
  return { place, length: Math.max(1, place(end)), gaps: cuts.map((c) => ({ at: place(c.from) + fold / 2, ms: c.to - c.from })), parts };
}

/** How much of the time is shown, in milliseconds; all of it is 0. */
export const zooms = { fit: 0, "1h": 3_600_000, "5m": 300_000, "10s": 10_000, "1s": 1000 } as const;
export type Zoom = keyof typeof zooms;

/** Those that show less than all of a time; longer ones would be no other. */
export function zoomsFor(ms: number): readonly Zoom[] {
  return (Object.keys(zooms) as Zoom[]).filter((z) => zooms[z] < ms || z === "fit");
}

/** What is shown of an axis, by places on it. */
export interface Window {
  readonly from: number;
  readonly length: number;
}

/** A part of an axis around a place; without one its end. */
export function windowOf(axis: Axis, zoom: Zoom, around: number | undefined): Window {
  const length = zooms[zoom] === 0 ? axis.length : Math.min(axis.length, zooms[zoom]);
  const from = around === undefined ? axis.length - length : axis.place(around) - length / 2;
  return { from: Math.max(0, Math.min(axis.length - length, from)), length };
}

const steps = [50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 216e5, 864e5];

/** The times to write at what is shown of an axis, so far apart at least, counted from when it began. */
export function ticksOf(axis: Axis, began: number, apart: number, shown: Window): readonly { readonly at: number; readonly text: string }[] {
  if (apart <= 0) return []; // there is no room
  const step = steps.find((s) => s >= apart) ?? steps.at(-1)!;
  return axis.parts.flatMap(({ from, to }) => {
    const list = [], first = from + Math.max(0, shown.from - axis.place(from)), last = Math.min(to, from + shown.from + shown.length - axis.place(from));
    for (let n = Math.ceil((first - began) / step); n * step <= last - began; n++) list.push({ at: began + n * step, text: elapsed(n * step, step) });
    return list;
  });
}

function elapsed(ms: number, step: number): string {
  if (ms >= 60_000 && step >= 1000) return clock(ms);
  return `${(ms / 1000).toFixed(step < 100 ? 2 : step < 1000 ? 1 : 0)} s`;
}
