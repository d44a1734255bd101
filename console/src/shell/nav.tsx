import type { ReactNode } from "react";
import { Link, useLocation } from "wouter";

import { approvals } from "../data/approvals";
import { useKeyNames } from "../data/bindings";
import { lobby } from "../data/lobby";
import { isDark, setPrefs, usePref } from "../data/prefs";
import { useSelect } from "../data/store";
import { t } from "../i18n";
import * as I from "../ui/icons";
import { openHelp, openNew } from "./open";

/** The rail at the side; on a phone the bar below. */
export function Nav(): ReactNode {
  const waiting = useSelect(approvals, (a) => a.list.length);
  const key = useKeyNames();
  usePref("theme");
  return (
    <nav aria-label={t("nav.main")} className="relative flex shrink-0 border-line bg-panel max-sm:h-14 max-sm:border-t max-sm:pb-[env(safe-area-inset-bottom)] sm:w-[60px] sm:flex-col sm:items-center sm:gap-1 sm:border-e sm:py-3">
      <Link href="/" aria-label="Harness" className="mb-3 hidden sm:block"><img src="/console/icon.svg" alt="" width="30" height="30" /></Link>
      <Item href="/" label={t("nav.sessions")} icon={<I.Sessions size={18} />} also="/s/" />
      <Item href="/inbox" label={t("nav.inbox")} icon={<I.Inbox size={18} />} count={waiting} />
      <Item href="/cockpit" label={t("nav.cockpit")} icon={<I.Gauge size={18} />} />
      <Item href="/settings" label={t("nav.settings")} icon={<I.Gear size={18} />} />
      <div className="hidden flex-1 sm:block" />
      <button type="button" onClick={openNew} title={named(t("new.title"), key("new"))} aria-label={t("new.title")} className="hidden size-10 place-items-center rounded-xl text-quiet hover:bg-sunken hover:text-ink sm:grid"><I.Plus size={18} /></button>
      <button type="button" onClick={() => setPrefs({ theme: isDark() ? "light" : "dark" })} title={named(t("theme.change"), key("theme"))} aria-label={t("theme.change")} className="hidden size-10 place-items-center rounded-xl text-quiet hover:bg-sunken hover:text-ink sm:grid">{isDark() ? <I.Sun size={18} /> : <I.Moon size={18} />}</button>
      <button type="button" onClick={openHelp} title={named(t("help.title"), key("help"))} aria-label={t("help.title")} className="hidden size-10 place-items-center rounded-xl text-quiet hover:bg-sunken hover:text-ink sm:grid"><I.Keys size={18} /></button>
      <Lamp />
    </nav>
  );
}

const named = (what: string, key: string | undefined) => (key === undefined ? what : `${what} (${key})`);

function Item({ href, label, icon, count = 0, also }: { readonly href: string; readonly label: string; readonly icon: ReactNode; readonly count?: number; readonly also?: string }): ReactNode {
  const [path] = useLocation();
  const here = href === "/" ? path === "/" || (also !== undefined && path.startsWith(also)) : path.startsWith(href);
  return (
    <Link href={href} aria-current={here ? "page" : undefined} title={label} className={`relative flex flex-1 flex-col items-center justify-center gap-0.5 sm:size-11 sm:flex-none sm:rounded-xl ${here ? "text-mark sm:bg-mark-soft" : "text-quiet hover:text-ink sm:hover:bg-sunken"}`}>
      {icon}
      <span className="text-2xs sm:sr-only">{label}</span>
      {count > 0 && <span aria-label={t("nav.waiting", { n: count })} className="num absolute start-1/2 top-1 ms-1 grid h-4 min-w-4 place-items-center rounded-full bg-warn px-1 text-[10px] leading-none font-semibold text-panel sm:start-auto sm:end-0.5 sm:top-0.5">{count > 99 ? "99+" : count}</span>}
    </Link>
  );
}

/** Whether what is shown is what the server has. */
function Lamp(): ReactNode {
  const phase = useSelect(lobby, (l) => l.phase);
  const look = { open: "bg-ok", connecting: "bg-warn breathe", reconnecting: "bg-warn breathe", closed: "bg-bad" }[phase];
  const text = { open: t("connection.open"), connecting: t("connection.connecting"), reconnecting: t("connection.reconnecting"), closed: t("connection.closed") }[phase];
  return (
    <div title={text} data-testid="lamp" data-phase={phase} className="flex flex-col items-center gap-1 pt-2 text-2xs text-faint max-sm:absolute max-sm:end-2 max-sm:top-0">
      <span className={`size-2 rounded-full ${look}`} />
      <span className="max-w-14 text-center leading-tight [overflow-wrap:anywhere] max-sm:sr-only">{text}</span>
    </div>
  );
}
