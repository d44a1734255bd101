import { createStore } from "./store";

export interface Toast {
  readonly id: number;
  readonly tone: "ok" | "bad" | "info";
  readonly text: string;
}

export const toasts = createStore<readonly Toast[]>([]);

let next = 1;

/** Says something in a corner for a while. */
export function toast(text: string, tone: Toast["tone"] = "info"): void {
  const id = next++;
  toasts.set((l) => [...l.slice(-3), { id, tone, text }]);
  setTimeout(() => toasts.set((l) => l.filter((x) => x.id !== id)), tone === "bad" ? 9000 : 4500);
}
