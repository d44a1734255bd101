import { useSyncExternalStore } from "react";

const wide = matchMedia("(min-width: 48rem)");

function subscribe(l: () => void): () => void {
  wide.addEventListener("change", l);
  return () => wide.removeEventListener("change", l);
}

/** Whether there is room for two things side by side. */
export function useWide(): boolean {
  return useSyncExternalStore(subscribe, () => wide.matches);
}
