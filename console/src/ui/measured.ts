import { type RefObject, useCallback, useLayoutEffect, useMemo, useRef, useState } from "react";

export interface Measured {
  readonly items: readonly { readonly index: number; readonly start: number }[];
  readonly total: number;
  /** For each row that is made: its element tells how high it is. */
  readonly watch: (el: HTMLElement | null) => void;
  readonly startOf: (index: number) => number;
}

/**
 * Which of many rows are to be made, where nobody knows how high one is before
 * it is there. Rows are known by their keys, so what comes in before them costs
 * nothing; where one above the screen turns out higher, what is read stays.
 */
export function useMeasured(scroller: RefObject<HTMLElement | null>, keys: readonly string[], guess: number): Measured {
  const heights = useRef(new Map<string, number>());
  const [version, setVersion] = useState(0);
  const [view, setView] = useState({ top: 0, height: 900 });

  const sums = useMemo(() => {
    let sum = 0, n = 0;
    for (const h of heights.current.values()) (sum += h), n++;
    const usual = n > 8 ? sum / n : guess;
    const made = new Float64Array(keys.length + 1);
    for (let i = 0; i < keys.length; i++) made[i + 1] = made[i]! + (heights.current.get(keys[i]!) ?? usual);
    return made;
  }, [keys, version, guess]);
  const latest = useRef({ sums, keys });
  latest.current = { sums, keys };

  const observer = useMemo(
    () =>
      new ResizeObserver((entries) => {
        let changed = false, moved = 0;
        const el = scroller.current;
        for (const e of entries) {
          const row = e.target as HTMLElement, key = row.dataset["key"]!, h = row.offsetHeight;
          if (!row.isConnected || heights.current.get(key) === h) continue;
          const i = Number(row.dataset["index"]), { sums: before } = latest.current;
          if (el !== null && before[i + 1]! <= el.scrollTop) moved += h - (before[i + 1]! - before[i]!);
          heights.current.set(key, h);
          changed = true;
        }
        if (!changed) return;
        if (el !== null && moved !== 0) el.scrollTop += moved;
        setVersion((v) => v + 1);
      }),
    [scroller],
  );
  useLayoutEffect(() => () => observer.disconnect(), [observer]);
  const watch = useCallback(
    (el: HTMLElement | null) => {
      if (el === null) return undefined;
      observer.observe(el);
      return () => observer.unobserve(el);
    },
    [observer],
  );

  useLayoutEffect(() => {
    const el = scroller.current;
    if (el === null) return;
    const look = () => setView((v) => (Math.abs(v.top - el.scrollTop) < 40 && v.height === el.clientHeight ? v : { top: el.scrollTop, height: el.clientHeight }));
    look();
    el.addEventListener("scroll", look, { passive: true });
    const sizes = new ResizeObserver(look);
    sizes.observe(el);
    return () => (el.removeEventListener("scroll", look), sizes.disconnect());
  }, [scroller]);

  const find = (y: number) => {
    let low = 0, high = keys.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (sums[mid + 1]! <= y) low = mid + 1;
      else high = mid;
    }
    return low;
  };
  const spare = 700;
  const from = find(Math.max(0, view.top - spare)), to = Math.min(keys.length, find(view.top + view.height + spare) + 1);
  const items: { index: number; start: number }[] = [];
  for (let i = from; i < to; i++) items.push({ index: i, start: sums[i]! });
  return { items, total: sums[keys.length]!, watch, startOf: (i) => latest.current.sums[i]! };
}
