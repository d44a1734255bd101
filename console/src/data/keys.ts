import { useEffect, useRef } from "react";

/** What a key does. Returning false hands it on to whoever asked before. */
export type KeyMap = Readonly<Record<string, (e: KeyboardEvent) => void | false>>;

type Level = "app" | "screen" | "card";
const levels: readonly Level[] = ["app", "screen", "card"];
const stack: { readonly level: number; readonly ref: { current: KeyMap } }[] = [];
let prefix = "";
let forget: ReturnType<typeof setTimeout> | undefined;

/** The keys of a component while it is there. A card is heard before its screen, the last that asked before the others. */
export function useKeys(map: KeyMap, on = true, level: Level = "screen"): void {
  const ref = useRef(map);
  ref.current = map;
  useEffect(() => {
    if (!on) return;
    const entry = { level: levels.indexOf(level), ref };
    const above = stack.findIndex((x) => x.level > entry.level);
    stack.splice(above < 0 ? stack.length : above, 0, entry);
    return () => void stack.splice(stack.indexOf(entry), 1);
  }, [on, level]);
}

function writing(e: Event): boolean {
  const at = e.target as HTMLElement | null;
  return at !== null && (at.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName)) && !(at instanceof HTMLInputElement && /^(checkbox|radio|button|range)$/.test(at.type));
}

/** Single keys never act while somebody writes or a dialog is open; Mod-keys do. */
export function startKeys(): void {
  addEventListener("keydown", (e) => {
    if (e.defaultPrevented || e.isComposing) return;
    const mod = e.ctrlKey || e.metaKey;
    if (e.altKey || (mod && e.key.toLowerCase() !== "k")) return;
    if (!mod && e.key !== "Escape" && writing(e)) return;
    const inDialog = document.querySelector("dialog[open]") !== null;
    if (inDialog && !mod) return;
    const name = mod ? `mod+${e.key.toLowerCase()}` : e.key.length === 1 ? e.key : e.key;
    const full = prefix === "" ? name : `${prefix} ${name}`;
    prefix = "";
    clearTimeout(forget);
    for (const wanted of full === name ? [name] : [full, name]) {
      for (let i = stack.length - 1; i >= 0; i--) {
        const act = stack[i]!.ref.current[wanted];
        if (act === undefined || act(e) === false) continue;
        e.preventDefault();
        return;
      }
    }
    if (stack.some((s) => Object.keys(s.ref.current).some((k) => k.startsWith(name + " ")))) {
      prefix = name;
      forget = setTimeout(() => (prefix = ""), 1200);
    }
  });
}
