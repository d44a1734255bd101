import type { ReactNode } from "react";

import { useStore } from "../data/store";
import { toasts } from "../data/toasts";

export function Toasts(): ReactNode {
  const list = useStore(toasts);
  const tones = { ok: "border-ok text-ok", bad: "border-bad text-bad", info: "border-edge text-ink" };
  return (
    <div role="status" aria-live="polite" className="pointer-events-none fixed end-4 bottom-18 z-50 flex w-80 max-w-[calc(100vw-2rem)] flex-col gap-2 sm:bottom-4">
      {list.map((x) => (
        <div key={x.id} className={`rise rounded-xl border-s-4 bg-raised px-3 py-2 text-sm shadow-float ${tones[x.tone]}`}>{x.text}</div>
      ))}
    </div>
  );
}
