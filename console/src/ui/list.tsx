import { type ReactNode, type Ref, useEffect, useImperativeHandle, useLayoutEffect, useMemo, useRef, useState } from "react";

export interface ListHandle {
  readonly scrollTo: (index: number, where?: "center" | "nearest" | "start") => void;
  readonly element: HTMLDivElement | null;
}

/**
 * A list of rows whose heights are known, of which only those are made that
 * can be seen. It measures nothing but itself.
 */
export function KnownList({ count, height, row, label, role = "list", className = "", handle, follow = false, goal, onRange }: {
  readonly count: number;
  readonly height: number | ((i: number) => number);
  readonly row: (i: number) => ReactNode;
  readonly label: string;
  readonly role?: "list" | "grid" | "listbox" | "table";
  readonly className?: string;
  readonly handle?: Ref<ListHandle>;
  readonly follow?: boolean; // stay at the end if it is shown
  readonly goal?: { readonly index: number } | undefined; // each new one is gone to, once, without a step between
  readonly onRange?: (from: number, to: number) => void;
}): ReactNode {
  const ref = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const atEnd = useRef(true);
  const tops = useMemo(() => {
    if (typeof height === "number") return undefined;
    const sums = new Float64Array(count + 1);
    for (let i = 0; i < count; i++) sums[i + 1] = sums[i]! + height(i);
    return sums;
  }, [count, height]);
  const topOf = (i: number) => (tops === undefined ? i * (height as number) : tops[i]!);
  const total = topOf(count);
  useLayoutEffect(() => {
    const el = ref.current!;
    const look = () => setView((v) => (v.top === el.scrollTop && v.height === el.clientHeight ? v : { top: el.scrollTop, height: el.clientHeight }));
    look();
    const sizes = new ResizeObserver(look);
    sizes.observe(el);
    const onScroll = () => {
      atEnd.current = el.scrollHeight - el.scrollTop - el.clientHeight < 40;
      look();
    };
    el.addEventListener("scroll", onScroll, { passive: true });
    return () => (sizes.disconnect(), el.removeEventListener("scroll", onScroll));
  }, []);
  useLayoutEffect(() => {
    const el = ref.current!;
    if (follow && atEnd.current) el.scrollTop = el.scrollHeight;
  }, [total, follow]);
  const scrollTo: ListHandle["scrollTo"] = (i, where = "nearest") => {
    const el = ref.current;
    if (el === null) return;
    const top = topOf(i), bottom = topOf(Math.min(count, i + 1));
    if (where === "center") el.scrollTop = top - (el.clientHeight - (bottom - top)) / 2;
    else if (where === "start") el.scrollTop = top;
    else if (top < el.scrollTop) el.scrollTop = top;
    else if (bottom > el.scrollTop + el.clientHeight) el.scrollTop = bottom - el.clientHeight;
  };
  useImperativeHandle(handle, () => ({ scrollTo, get element() { return ref.current; } }));
  const find = (y: number) => {
    if (tops === undefined) return Math.floor(y / (height as number));
    let low = 0, high = count;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (tops[mid + 1]! <= y) low = mid + 1;
      else high = mid;
    }
    return low;
  };
  const reached = useRef<unknown>(undefined);
  let top = view.top;
  if (goal !== undefined && goal !== reached.current) {
    const middle = topOf(goal.index) - (view.height - (topOf(Math.min(count, goal.index + 1)) - topOf(goal.index))) / 2;
    top = Math.max(0, Math.min(middle, total - view.height));
  }
  useLayoutEffect(() => {
    if (goal === undefined || goal === reached.current) return;
    reached.current = goal;
    ref.current!.scrollTop = top;
  });
  const over = 6;
  const from = Math.max(0, Math.min(count, find(top) - over));
  const to = Math.max(from, Math.min(count, find(top + view.height) + over));
  useEffect(() => onRange?.(from, to), [from, to, onRange]);
  const rows: ReactNode[] = [];
  for (let i = from; i < to; i++) rows.push(row(i));
  return (
    <div ref={ref} role={role} aria-label={label} aria-rowcount={role === "grid" || role === "table" ? count : undefined} tabIndex={0} className={`overflow-y-auto ${className}`}>
      <div role="presentation" style={{ height: topOf(from) }} />
      {rows}
      <div role="presentation" style={{ height: total - topOf(to) }} />
    </div>
  );
}
