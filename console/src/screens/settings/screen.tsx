import { type ReactNode, useEffect, useRef } from "react";
import { Link, Redirect, useParams } from "wouter";

import { t } from "../../i18n/more";
import { NotFound } from "../../shell/not-found";
import { About, Access, Engines } from "./server";
import { Appearance, Notifications } from "./browser";
import { Budgets } from "./budgets";
import { Keys } from "./keys";
import { Policy } from "./policy";

const sections = { policy: Policy, budgets: Budgets, engines: Engines, tokens: Access, notifications: Notifications, appearance: Appearance, keys: Keys, about: About } as const;

export default function SettingsScreen(): ReactNode {
  const asked = useParams<{ section?: string }>().section ?? "policy";
  const here = useRef<HTMLAnchorElement>(null);
  useEffect(() => void here.current?.scrollIntoView({ block: "nearest", inline: "center" }), [asked]);
  if (asked === "access") return <Redirect to="/settings/tokens" replace />; // what the section is called
  if (!(asked in sections)) return <NotFound />;
  const at = asked as keyof typeof sections;
  const Section = sections[at];
  return (
    <>
      <header className="flex h-[53px] items-center border-b border-line bg-panel px-4 sm:px-6"><h1 className="text-lg font-semibold tracking-tight">{t("nav.settings")}</h1></header>
      <div className="flex min-h-0 flex-1 max-md:flex-col">
        <nav aria-label={t("nav.settings")} className="flex shrink-0 gap-1 overflow-x-auto p-3 max-md:pe-8 max-md:[mask-image:linear-gradient(to_right,black_calc(100%-2rem),transparent)] max-md:[scrollbar-width:none] md:w-52 md:flex-col md:border-e md:border-line">
          {(Object.keys(sections) as (keyof typeof sections)[]).map((s) => (
            <Link key={s} ref={s === at ? here : undefined} href={`/settings/${s}`} aria-current={s === at ? "page" : undefined} className={`rounded-lg px-3 py-1.5 text-sm whitespace-nowrap ${s === at ? "bg-mark-soft font-medium text-mark" : "text-quiet hover:bg-panel hover:text-ink"}`}>{t(`settings.${s}`)}</Link>
          ))}
        </nav>
        <div className="min-h-0 min-w-0 flex-1 overflow-y-auto p-4 sm:p-6" tabIndex={0} role="region" aria-label={t(`settings.${at}`)}>
          <div className="max-w-2xl space-y-4"><Section /></div>
        </div>
      </div>
    </>
  );
}
