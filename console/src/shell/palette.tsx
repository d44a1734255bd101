import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";

import { useKeyNames } from "../data/bindings";
import { lobby } from "../data/lobby";
import { titleOf } from "../data/notices";
import { isDark, prefs, setPrefs } from "../data/prefs";
import { useStore } from "../data/store";
import { languages } from "../i18n";
import { t } from "../i18n/more";
import { Kbd } from "../ui/controls";
import * as I from "../ui/icons";
import { StatusGlyph, statusText } from "../ui/status";
import { closeSheet, type Entry, extra, openHelp, openNew } from "./open";

/** So many sessions stand before the settings while nothing is looked for. */
const recent = 5;

/** Everything that can be done or gone to, by a few letters. */
export default function Palette(): ReactNode {
  const ref = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const entries = useEntries();
  const key = useKeyNames();
  const found = useMemo(() => rank(entries, text), [entries, text]);
  useEffect(() => ref.current?.showModal(), []);
  const close = closeSheet;
  const run = (e: Entry | undefined) => {
    if (e === undefined) return;
    close();
    e.run();
  };
  const move = (n: number) => setAt((i) => (found.length === 0 ? 0 : (i + n + found.length) % found.length));
  useEffect(() => void document.getElementById(`palette-${at}`)?.scrollIntoView({ block: "nearest" }), [at]);
  return (
    <dialog ref={ref} aria-label={t("palette.title")} onClose={close} onClick={(e) => e.target === ref.current && close()} className="mx-auto mt-[12vh] w-full max-w-xl overflow-hidden rounded-2xl border border-line bg-panel p-0 shadow-float max-sm:mt-2">
      <div className="flex items-center gap-2.5 border-b border-line px-4">
        <I.Search className="text-faint" />
        <input
          autoFocus
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={`palette-${at}`}
          aria-label={t("palette.title")}
          placeholder={t("palette.placeholder")}
          value={text}
          onChange={(e) => (setText(e.target.value), setAt(0))}
          onKeyDown={(e) => {
            if (e.key === "ArrowDown") move(1);
            else if (e.key === "ArrowUp") move(-1);
            else if (e.key === "Enter") run(found[at]);
            else return;
            e.preventDefault();
          }}
          className="h-12 w-full bg-transparent text-base outline-none placeholder:text-faint"
        />
      </div>
      <ul id="palette-list" role="listbox" aria-label={t("palette.title")} className="max-h-[50vh] overflow-y-auto p-1.5">
        {found.map((e, i) => (
          <li key={e.id} id={`palette-${i}`} role="option" aria-selected={i === at} onMouseMove={() => setAt(i)} onClick={() => run(e)} className={`flex h-9 cursor-pointer items-center gap-2.5 rounded-lg px-3 text-sm ${i === at ? "bg-mark-soft text-ink" : "text-quiet"}`}>
            <span className="grid size-4 place-items-center">{e.icon}</span>
            <span className="min-w-0 flex-1 truncate">{e.label}</span>
            <Hint text={e.hint ?? (e.action === undefined ? undefined : key(e.action))} keys={e.hint === undefined || e.action !== undefined} />
          </li>
        ))}
        {found.length === 0 && <li role="option" aria-selected="false" className="px-3 py-6 text-center text-sm text-faint">{t("palette.nothing")}</li>}
      </ul>
    </dialog>
  );
}

function Hint({ text, keys }: { readonly text: string | undefined; readonly keys: boolean }): ReactNode {
  if (text === undefined) return null;
  return keys ? <span className="flex gap-1">{text.split(" ").map((k, i) => <Kbd key={i}>{k}</Kbd>)}</span> : <span className="truncate text-xs text-faint">{text}</span>;
}

function useEntries(): readonly Entry[] {
  const [, go] = useLocation();
  const { rows } = useStore(lobby);
  const more = useStore(extra);
  return useMemo(() => {
    const newest = [...rows.values()].sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1));
    const sessions = newest.slice(0, 300).map((r): Entry => ({ id: r.session_id, label: titleOf(r), hint: statusText(r.status), icon: <StatusGlyph status={r.status} />, run: () => go(`/s/${encodeURIComponent(r.session_id)}`) }));
    return [
      ...more,
      { id: "new", label: t("new.title"), action: "new", icon: <I.Plus />, run: openNew },
      { id: "sessions", label: t("nav.sessions"), action: "sessions", icon: <I.Sessions />, run: () => go("/") },
      { id: "inbox", label: t("nav.inbox"), action: "inbox", icon: <I.Inbox />, run: () => go("/inbox") },
      { id: "cockpit", label: t("nav.cockpit"), action: "cockpit", icon: <I.Gauge />, run: () => go("/cockpit") },
      ...sessions.slice(0, recent),
      ...(["policy", "budgets", "engines", "tokens", "notifications", "appearance", "keys", "about"] as const).map((s) => ({ id: `set-${s}`, label: `${t("nav.settings")}: ${t(`settings.${s}`)}`, icon: <I.Gear />, run: () => go(`/settings/${s}`) })),
      { id: "theme", label: t("theme.change"), action: "theme", icon: isDark() ? <I.Sun /> : <I.Moon />, run: () => setPrefs({ theme: isDark() ? "light" : "dark" }) },
      { id: "debug", label: prefs.get().debug ? t("debug.off") : t("debug.on"), action: "debug", icon: <I.Bug />, run: () => setPrefs({ debug: !prefs.get().debug }) },
      ...languages.map((l) => ({ id: `lang-${l.value}`, label: l.label, icon: <I.Globe />, run: () => setPrefs({ lang: l.value }) })),
      { id: "help", label: t("help.title"), action: "help" as const, icon: <I.Keys />, run: openHelp },
      ...sessions.slice(recent),
    ];
  }, [rows, more, go]);
}

/** Those whose letters come in this order; whole words first. */
function rank(list: readonly Entry[], text: string): readonly Entry[] {
  const want = text.trim().toLowerCase();
  if (want === "") return list.slice(0, 60);
  const scored: [number, Entry][] = [];
  for (const e of list) {
    const have = e.label.toLowerCase();
    const whole = have.indexOf(want);
    if (whole >= 0) {
      scored.push([whole === 0 ? 0 : /\W/.test(have[whole - 1]!) ? 1 : 2, e]);
      continue;
    }
    let i = 0;
    for (const c of have) if (c === want[i]) i++;
    if (i === want.length) scored.push([3, e]);
    else if (e.id.toLowerCase().includes(want)) scored.push([4, e]);
  }
  return scored.sort((a, b) => a[0] - b[0]).map(([, e]) => e).slice(0, 60);
}
