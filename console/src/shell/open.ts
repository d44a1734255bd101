import { type ReactNode, useEffect } from "react";

import type { Action } from "../data/bindings";
import { createStore } from "../data/store";

/** What stands above the screen; each is fetched when it is first wanted. */
export const sheet = createStore<"" | "new" | "palette" | "help">("");

export const openNew = () => sheet.set("new");
export const openPalette = () => sheet.set("palette");
export const openHelp = () => sheet.set("help");
export const closeSheet = () => sheet.set("");

export interface Entry {
  readonly id: string;
  readonly label: string;
  readonly hint?: string;
  readonly action?: Action; // its key is the hint
  readonly icon?: ReactNode;
  readonly run: () => void;
}

/** What the screen that is shown adds to the palette. */
export const extra = createStore<readonly Entry[]>([]);

/** The commands of a screen, while it is shown. */
export function useCommands(list: readonly Entry[]): void {
  useEffect(() => {
    extra.set(list);
    return () => extra.set([]);
  }, [list]);
}
