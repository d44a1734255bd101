import { useSyncExternalStore } from "react";

import { again } from "../data/again";
import type { enCard } from "./card";
import { en } from "./en";
import type { enMore } from "./en-more";

/** A text that is there from the start; the others are with ./more and ./card. */
export type Key = keyof typeof en;
export type Text = string | { readonly one: string; readonly other: string };
export type Catalogue = { readonly [K in Key | keyof typeof enMore | keyof typeof enCard]: Text };
export type Lang = "en" | "de" | "en-XA";

export const languages: readonly { readonly value: Lang; readonly label: string }[] = [
  { value: "en", label: "English" },
  { value: "de", label: "Deutsch" },
];

let wish: Lang = "en";
let shown: Lang = "en"; // the wish, when it has come
let english: Partial<Catalogue> = en;
let catalogue: Partial<Catalogue> = en;
const listeners = new Set<() => void>();

/** The language as browsers write it. */
export function lang(): string {
  return shown === "en-XA" ? "en" : shown;
}

/** Fetches a language and shows it, or fails and leaves the one that is shown. The last wish counts. */
export async function speak(wanted: Lang): Promise<void> {
  wish = wanted;
  const loaded: Partial<Catalogue> = wanted === "de" ? (await again(() => import("./de"))).de : wanted === "en-XA" ? pseudo(english) : english;
  if (wish !== wanted) return;
  catalogue = loaded;
  shown = wanted;
  document.documentElement.lang = lang();
  for (const l of listeners) l();
}

/** More English texts; the other languages come whole. */
export function extend(more: Partial<Catalogue>): void {
  english = { ...english, ...more };
  if (shown === "en") catalogue = english;
  if (shown === "en-XA") catalogue = pseudo(english);
}

/** Renders again when the language is another. */
export function useLang(): Lang {
  return useSyncExternalStore((l) => (listeners.add(l), () => listeners.delete(l)), () => shown);
}

export function browserLang(): Lang {
  return navigator.language.startsWith("de") ? "de" : "en";
}

/** A text of the console, with what belongs between its braces. `n` chooses its number. */
export function t(key: Key, values: Readonly<Record<string, string | number>> = {}): string {
  return translate(key, values);
}

export function translate(key: keyof Catalogue, values: Readonly<Record<string, string | number>>): string {
  const text = catalogue[key] ?? english[key] ?? key;
  const form = typeof text === "string" ? text : new Intl.PluralRules(lang()).select(Number(values["n"])) === "one" ? text.one : text.other;
  return form.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const v = values[name];
    return v === undefined ? whole : typeof v === "number" ? v.toLocaleString(lang()) : v;
  });
}

const accents: Readonly<Record<string, string>> = { a: "á", e: "é", i: "í", o: "ó", u: "ú", A: "Á", E: "É", I: "Í", O: "Ó", U: "Ú", n: "ñ", c: "ç", y: "ý" };

/** Longer and with accents, so that what is not translated, or has no room, can be seen. */
function pseudo(of: Partial<Catalogue>): Partial<Catalogue> {
  const change = (s: string) => {
    const long = s.replace(/\{\w+\}|[a-zA-Z]/g, (c) => (c.length > 1 ? c : (accents[c] ?? c)));
    return `[${long}${"~".repeat(Math.ceil(s.length * 0.3))}]`;
  };
  return Object.fromEntries(
    Object.entries(of).map(([k, v]) => [k, typeof v === "string" ? change(v) : { one: change(v.one), other: change(v.other) }]),
  ) as unknown as Partial<Catalogue>;
}
