import type { ReactNode } from "react";

import type { Row } from "../../data/lobby";
import { lang, t } from "../../i18n/more";
import { Panel } from "../../ui/surface";
import { money } from "../../ui/time";

export interface Spent {
  readonly date: string; // of a day in UTC
  readonly usd: number;
}

/** What sessions cost, on each of the last seven days. */
export function spentBy(rows: Iterable<Row>, now: number): readonly Spent[] {
  const days = new Map(Array.from({ length: 7 }, (_, i) => [new Date(now - (6 - i) * 86_400_000).toISOString().slice(0, 10), 0]));
  for (const r of rows) for (const d of r.health?.spent ?? []) if (days.has(d.date)) days.set(d.date, days.get(d.date)! + d.cost_usd);
  return [...days].map(([date, usd]) => ({ date, usd }));
}

/** A bar for each day; the words say the same. */
export function SpendPanel({ days }: { readonly days: readonly Spent[] }): ReactNode {
  const most = Math.max(...days.map((d) => d.usd)), all = days.reduce((n, d) => n + d.usd, 0);
  const name = new Intl.DateTimeFormat(lang(), { weekday: "short", timeZone: "UTC" });
  return (
    <Panel title={t("cockpit.spending")} aside={<span className="num text-xs text-quiet">{t("cockpit.week", { sum: money(all) })}</span>}>
      {all === 0 ? <p className="text-sm text-faint">{t("cockpit.nospend")}</p> : (
        <ol data-testid="spend" className="grid grid-cols-7 gap-2">
          {days.map((d) => (
            <li key={d.date} title={d.date} className="flex min-w-0 flex-col items-center gap-1">
              <span className={`num truncate text-2xs ${d.usd > 0 ? "text-quiet" : "text-faint"}`}>{d.usd > 0 ? money(d.usd) : "–"}</span>
              <span aria-hidden="true" className="flex h-16 w-full max-w-12 items-end rounded-md bg-sunken"><span className="w-full rounded-md bg-mark" style={{ height: `${Math.max(d.usd > 0 ? 4 : 0, (d.usd / most) * 100)}%` }} /></span>
              <span className={`text-2xs ${d === days.at(-1) ? "font-semibold text-ink" : "text-faint"}`}>{d === days.at(-1) ? t("cockpit.today") : name.format(new Date(d.date))}</span>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}
