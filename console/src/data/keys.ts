import { useEffect, useRef } from "react";

import { type Action, isAction, keyOf } from "./bindings";

type Fixed = "Enter" | "Escape" | "ArrowDown" | "ArrowUp" | "Home" | "End" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8";
type Act = (e: KeyboardEvent) => void | false;

/** What keys do, by action or by a key that stays what it is. Returning false hands it on to whoever asked before. */
export type KeyMap = { readonly [K in Action | Fixed]?: Act };

type Level = "app" | "screen" | "card";
const levels: readonly Level[] = ["app", "screen", "card"];
const stack: { readonly level: number; readonly ref: { current: KeyMap } }[] = [];
let prefix = "";
let spent = ""; // a key that answered a question, until it is let go: what comes next is not for it
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

const bound = (name: string) => (isAction(name) ? keyOf(name) : name);

/** Runs what a key stands for; the last who asked first. */
function run(wanted: string, e: KeyboardEvent): boolean {
  for (let i = stack.length - 1; i >= 0; i--) {
    for (const [name, act] of Object.entries(stack[i]!.ref.current) as [string, Act][]) {
      if (bound(name) !== wanted) continue;
      const answers = stack[i]!.level === levels.indexOf("card") || name === "approve"; // one stroke, one answer
      if (!(answers && e.repeat) && act(e) === false) continue;
      if (answers) spent = e.key;
      e.preventDefault();
      return true;
    }
  }
  return false;
}

/** Single keys never act while somebody writes or a dialog is open; those with Ctrl or Command do. */
export function startKeys(): void {
  addEventListener("keydown", (e) => {
    if (e.defaultPrevented || e.isComposing || e.altKey) return;
    const mod = e.ctrlKey || e.metaKey;
    if (!mod && e.key !== "Escape" && writing(e)) return;
    if (!mod && document.querySelector("dialog[open]") !== null) return;
    if (!e.repeat) spent = "";
    else if (e.key === spent) return;
    const name = mod ? `mod+${e.key.toLowerCase()}` : e.key;
    const full = prefix === "" ? name : `${prefix} ${name}`;
    prefix = "";
    clearTimeout(forget);
    if (run(full, e) || (full !== name && run(name, e))) return;
    if (!stack.some((s) => Object.keys(s.ref.current).some((k) => bound(k).startsWith(name + " ")))) return;
    prefix = name;
    forget = setTimeout(() => (prefix = ""), 1200);
  });
}
