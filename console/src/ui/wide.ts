import { useSyncExternalStore } from "react";

const widths = { md: matchMedia("(min-width: 48rem)"), lg: matchMedia("(min-width: 64rem)") };

function subscribe(l: () => void): () => void {
  for (const w of Object.values(widths)) w.addEventListener("change", l);
  return () => {
    for (const w of Object.values(widths)) w.removeEventListener("change", l);
  };
}

/** Whether there is room for two things side by side, or for three. */
export function useWide(width: keyof typeof widths = "md"): boolean {
  return useSyncExternalStore(subscribe, () => widths[width].matches);
}
