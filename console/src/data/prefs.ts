import { browserLang, type Lang, speak, t } from "../i18n";
import { createStore, useSelect } from "./store";
import { toast } from "./toasts";

/** When nothing is to be heard, as clocks show it; over midnight if it ends before it begins. */
export interface Quiet {
  readonly on: boolean;
  readonly from: string;
  readonly to: string;
}

/** What somebody likes, in this browser. */
export interface Prefs {
  readonly theme: "system" | "light" | "dark";
  readonly lang: Lang;
  readonly debug: boolean;
  readonly notify: boolean;
  readonly sound: boolean;
  readonly side: boolean;
  readonly split: boolean; // differences side by side
  readonly blanks: boolean; // lines that differ in blanks only are the same
  readonly quiet: Quiet;
  readonly keys: Readonly<Record<string, string>>; // of actions that have another than the usual one
  readonly closed: readonly string[]; // groups of the list
}

const kept = "harness.console";
const usual: Prefs = { theme: "system", lang: browserLang(), debug: false, notify: false, sound: false, side: true, split: false, blanks: false, quiet: { on: false, from: "22:00", to: "07:00" }, keys: {}, closed: ["done"] };

function read(): Prefs {
  try {
    return { ...usual, ...(JSON.parse(localStorage.getItem(kept) ?? "{}") as Partial<Prefs>) };
  } catch {
    return usual;
  }
}

export const prefs = createStore<Prefs>(read());

export function setPrefs(change: Partial<Prefs>): void {
  prefs.set((p) => ({ ...p, ...change }));
}

export function usePref<K extends keyof Prefs>(name: K): Prefs[K] {
  return useSelect(prefs, (p) => p[name]);
}

/** Whether it is to be quiet at a time. */
export function isQuiet(q: Quiet, at: Date): boolean {
  const now = at.toTimeString().slice(0, 5);
  if (!q.on || q.from === q.to) return false;
  return q.from < q.to ? now >= q.from && now < q.to : now >= q.from || now < q.to;
}

const darkness = matchMedia("(prefers-color-scheme: dark)");

export function isDark(): boolean {
  const { theme } = prefs.get();
  return theme === "dark" || (theme === "system" && darkness.matches);
}

function paint(): void {
  document.documentElement.dataset["theme"] = isDark() ? "dark" : "light";
}

/** Keeps wishes and carries them out. The address may ask for a language. */
export function startPrefs(): void {
  const asked = new URLSearchParams(location.search).get("lang");
  let language: Lang | undefined = asked === "en" || asked === "de" || asked === "en-XA" ? asked : undefined;
  const follow = () => {
    paint();
    const wanted = language ?? prefs.get().lang;
    speak(wanted).catch(() => toast(t("language.failed"), "bad")); // another change of wishes asks again
  };
  follow();
  darkness.addEventListener("change", paint);
  prefs.subscribe(() => {
    language = undefined;
    follow();
    try {
      localStorage.setItem(kept, JSON.stringify(prefs.get()));
    } catch {
      // A browser that keeps nothing has the usual ones next time.
    }
  });
}
