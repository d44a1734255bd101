import { type PointerEvent, type ReactNode, useRef, useState } from "react";

export interface Push {
  readonly label: string;
  readonly icon: ReactNode;
  readonly tone: "ok" | "warn" | "bad";
  readonly run: () => void;
}

/** How far a finger has to go, as a part of the width, and at most in pixels. */
const far = { part: 0.35, most: 140 };

const tones = { ok: "bg-ok text-panel", warn: "bg-warn text-panel", bad: "bg-bad text-panel" };

/**
 * Lets a finger push something aside: to the right one thing, to the left
 * another. What would happen is to be read beneath it, and only letting go
 * beyond the mark does it. A mouse pushes nothing.
 */
export function Swipe({ right, left, children }: { readonly right?: Push | undefined; readonly left?: Push | undefined; readonly children: ReactNode }): ReactNode {
  const from = useRef<{ readonly id: number; readonly x: number; readonly y: number; readonly width: number } | undefined>(undefined);
  const [by, setBy] = useState(0);
  const down = (e: PointerEvent<HTMLDivElement>) => {
    if (e.pointerType !== "touch" || !e.isPrimary || (e.target as Element).closest("input, textarea, select") !== null) return;
    from.current = { id: e.pointerId, x: e.clientX, y: e.clientY, width: e.currentTarget.offsetWidth };
  };
  const move = (e: PointerEvent<HTMLDivElement>) => {
    const f = from.current;
    if (f?.id !== e.pointerId) return;
    const x = e.clientX - f.x;
    if (by === 0 && Math.abs(x) < Math.max(12, 2 * Math.abs(e.clientY - f.y))) return;
    setBy(x > 0 ? (right === undefined ? 0 : x) : left === undefined ? 0 : x);
  };
  const beyond = (x: number) => Math.abs(x) >= Math.min(far.most, far.part * (from.current?.width ?? 0));
  const up = (e: PointerEvent<HTMLDivElement>, counts: boolean) => {
    if (from.current?.id !== e.pointerId) return;
    const push = by > 0 ? right : left;
    if (counts && by !== 0 && beyond(by)) push?.run();
    from.current = undefined;
    setBy(0);
  };
  const push = by > 0 ? right : by < 0 ? left : undefined;
  return (
    <div data-swipe={by === 0 ? undefined : push?.label} className="relative overflow-hidden rounded-xl [&_*]:[touch-action:pan-y] [touch-action:pan-y]" onPointerDown={down} onPointerMove={move} onPointerUp={(e) => up(e, true)} onPointerCancel={(e) => up(e, false)}>
      {push !== undefined && <div aria-hidden="true" className={`absolute inset-0 flex items-center gap-2 px-5 text-base font-semibold ${by > 0 ? "justify-start" : "justify-end"} ${beyond(by) ? tones[push.tone] : "bg-sunken text-quiet"}`}>{push.icon}{push.label}</div>}
      <div className={by === 0 ? "transition-transform duration-150" : ""} style={by === 0 ? undefined : { transform: `translateX(${by}px)` }}>{children}</div>
    </div>
  );
}

/** For what a tap is too little: it has to be pushed from one end to the other. */
export function Slide({ label, disabled, onDone }: { readonly label: string; readonly disabled: boolean; readonly onDone: () => void }): ReactNode {
  const [at, setAt] = useState(0);
  return (
    <label className="relative block h-12 w-full overflow-hidden rounded-full border border-bad bg-bad-soft">
      <span className="absolute inset-0 grid place-items-center ps-12 text-sm font-medium text-bad">{label}</span>
      <input
        type="range"
        min={0}
        max={100}
        step={5}
        value={at}
        disabled={disabled}
        aria-label={label}
        onChange={(e) => {
          const to = Number(e.target.value);
          if (to > at + 60) return; // a tap at the end is no push
          setAt(to);
          if (to === 100) onDone();
        }}
        onPointerUp={() => at < 100 && setAt(0)}
        className="slide absolute inset-0 size-full"
      />
    </label>
  );
}
