import { type ReactNode, useSyncExternalStore } from "react";

import { lang, t } from "../i18n";
import { clock } from "./clock";

/** One clock for everything that counts; it stands still while nobody looks. */
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function start(): void {
  if (timer !== undefined || listeners.size === 0 || document.hidden) return;
  timer = setInterval(() => {
    now = Date.now();
    for (const l of listeners) l();
  }, 1000);
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    clearInterval(timer);
    timer = undefined;
  } else {
    now = Date.now();
    for (const l of listeners) l();
    start();
  }
});

function subscribe(l: () => void): () => void {
  listeners.add(l);
  start();
  return () => {
    listeners.delete(l);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** A value of the time that is computed every second and renders only when it is another. */
export function useTick<T>(of: (now: number) => T): T {
  return useSyncExternalStore(subscribe, () => of(now));
}

export function shortAge(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 5) return t("time.now");
  if (s < 60) return t("time.s", { n: s });
  if (s < 3600) return t("time.m", { n: Math.floor(s / 60) });
  if (s < 86400) return t("time.h", { n: Math.floor(s / 3600) });
  return t("time.d", { n: Math.floor(s / 86400) });
}

/** How long ago; coarse, so that it seldom changes. */
export function Ago({ at }: { readonly at: string }): ReactNode {
  const ms = Date.parse(at);
  const text = useTick((n) => shortAge(n - ms));
  return <time dateTime={at} title={new Date(ms).toLocaleString(lang())} className="num">{text}</time>;
}

/** How long something has been waiting, to the second. */
export function Waiting({ since }: { readonly since: string }): ReactNode {
  const ms = Date.parse(since);
  const text = useTick((n) => clock(Math.max(0, n - ms)));
  return <time dateTime={since} className="num">{text}</time>;
}

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  return clock(ms);
}

/** A running time in minutes; below one in seconds. */
export function spell(minutes: number): string {
  return minutes < 1 ? t("time.s", { n: Math.round(minutes * 60) }) : duration(minutes * 60_000);
}

export function money(usd: number): string {
  return new Intl.NumberFormat(lang(), { style: "currency", currency: "USD", maximumFractionDigits: usd < 1 ? 3 : 2 }).format(usd);
}

export function number(n: number): string {
  return new Intl.NumberFormat(lang(), { notation: n >= 10_000 ? "compact" : "standard", maximumFractionDigits: 1 }).format(n);
}
