import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";

import { IconButton } from "./controls";
import * as I from "./icons";

export interface MenuItem {
  readonly id: string;
  readonly label: string;
  readonly icon: ReactNode;
  readonly danger?: boolean;
  readonly className?: string;
  readonly run: () => void;
}

/** What is wanted less often, behind three dots. */
export function Menu({ label, items }: { readonly label: string; readonly items: readonly MenuItem[] }): ReactNode {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const shown = () => [...(box.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])].filter((x) => x.offsetParent !== null);
  useEffect(() => {
    if (!open) return;
    shown()[0]?.focus();
    const away = (e: Event) => !box.current?.contains(e.target as Node) && setOpen(false);
    addEventListener("pointerdown", away);
    addEventListener("focusin", away);
    return () => (removeEventListener("pointerdown", away), removeEventListener("focusin", away));
  }, [open]);
  const keys = (e: KeyboardEvent) => {
    if (!open) return;
    if (e.key === "Escape") {
      setOpen(false);
      box.current?.querySelector("button")?.focus();
    } else if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      const all = shown();
      const i = all.indexOf(document.activeElement as HTMLElement) + (e.key === "ArrowDown" ? 1 : -1);
      all[(i + all.length) % all.length]?.focus();
    } else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <div ref={box} onKeyDown={keys} className="relative">
      <IconButton label={label} aria-haspopup="menu" aria-expanded={open} onClick={() => setOpen(!open)}><I.More size={16} /></IconButton>
      {open && (
        <div role="menu" aria-label={label} className="rise absolute end-0 top-full z-30 mt-1 w-max max-w-80 min-w-60 rounded-xl border border-line bg-raised p-1 shadow-float">
          {items.map((m) => (
            <button key={m.id} type="button" role="menuitem" onClick={() => (setOpen(false), m.run())} className={`flex h-10 w-full items-center gap-2.5 rounded-lg px-3 text-start text-sm -outline-offset-2 hover:bg-sunken focus-visible:bg-sunken sm:h-9 ${m.danger === true ? "text-bad" : ""} ${m.className ?? ""}`}>
              <span className="grid size-4 place-items-center">{m.icon}</span>
              <span className="min-w-0 flex-1 truncate">{m.label}</span>
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
