import { type ReactNode, useEffect, useMemo, useState } from "react";
import { Link } from "wouter";

import { api, type Detail } from "../../data/api";
import { lobby, type Row } from "../../data/lobby";
import { titleOf } from "../../data/notices";
import { numbered } from "../../data/plain";
import { useStore } from "../../data/store";
import { t } from "../../i18n/more";
import { Button } from "../../ui/controls";
import { Counts } from "../../ui/diff";
import * as I from "../../ui/icons";
import { Score, StatusBadge, StatusGlyph, statusText } from "../../ui/status";
import { Panel } from "../../ui/surface";
import { Ago, money, number, spell } from "../../ui/time";
import { useLive } from "./live";

interface Node { readonly row: Row; readonly at: number; readonly children: readonly Node[] }

/** Where this session comes from and what was branched off it. Two of them can be compared. */
export default function TreeView({ id, onBranch }: { readonly id: string; readonly onBranch: (from: string) => void }): ReactNode {
  const { rows } = useStore(lobby);
  const { detail } = useLive();
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const root = useMemo(() => {
    let top = rows.get(id);
    for (const seen = new Set<string>(); top?.parent_session_id !== undefined && rows.has(top.parent_session_id) && !seen.has(top.session_id); ) {
      seen.add(top.session_id);
      top = rows.get(top.parent_session_id);
    }
    return top === undefined ? undefined : grow(top, rows);
  }, [rows, id]);
  const choose = (x: string) => setChosen((c) => (c.includes(x) ? c.filter((y) => y !== x) : [...c.slice(-1), x]));
  return (
    <div className="min-h-0 flex-1 space-y-4 overflow-y-auto p-4" tabIndex={0} role="group" aria-label={t("tab.tree")}>
      <Panel title={t("tree.title")} aside={<Button size="sm" onClick={() => onBranch(`${id}.${rows.get(id)?.seq ?? 1}`)}><I.Branch size={12} />{t("branch.title")}</Button>}>
        {root !== undefined && <ul>{<Twig node={root} here={id} chosen={chosen} onChoose={choose} />}</ul>}
        <p className="mt-3 text-xs text-faint">{chosen.length === 2 ? t("tree.comparing") : t("tree.choose")}</p>
      </Panel>
      {chosen.length === 2 && <Compare a={chosen[0]!} b={chosen[1]!} />}
      {detail !== undefined && detail.resume_points.length > 0 && (
        <Panel title={t("tree.points")}>
          <ol className="divide-y divide-line">
            {detail.resume_points.map((p) => (
              <li key={p.cursor} className="flex flex-wrap items-center gap-x-3 gap-y-0.5 py-1.5 text-sm">
                <span className="num shrink-0 text-xs text-faint sm:w-12 sm:text-end">#{p.seq}</span>
                <span className="flex-1 font-mono text-xs text-quiet sm:w-24 sm:flex-none">{p.kind}</span>
                <span className="min-w-0 truncate max-sm:order-last max-sm:basis-full sm:flex-1">{numbered(p.label)}</span>
                <span className="text-xs text-faint"><Ago at={p.created_at} /></span>
                <Link href={`/s/${encodeURIComponent(id)}/at/${p.seq}`} className="text-xs text-mark hover:underline">{t("timeline.travel")}</Link>
                <button type="button" className="text-xs text-mark hover:underline" onClick={() => onBranch(`${id}.${p.seq}`)}>{t("branch.short")}</button>
              </li>
            ))}
          </ol>
        </Panel>
      )}
    </div>
  );
}

function grow(row: Row, rows: ReadonlyMap<string, Row>, depth = 0): Node {
  const children = depth > 20 ? [] : [...rows.values()].filter((r) => r.parent_session_id === row.session_id).sort((a, b) => (a.created_at < b.created_at ? -1 : 1)).map((r) => grow(r, rows, depth + 1));
  return { row, at: Number(row.branch_source_event_id?.split(".").at(-1) ?? 0), children };
}

function Twig({ node, here, chosen, onChoose }: { readonly node: Node; readonly here: string; readonly chosen: readonly string[]; readonly onChoose: (id: string) => void }): ReactNode {
  const { row } = node;
  return (
    <li>
      <div className={`flex items-center gap-2.5 rounded-lg px-2 py-1.5 ${row.session_id === here ? "bg-mark-soft" : "hover:bg-sunken"}`}>
        <input type="checkbox" aria-label={t("tree.select", { title: titleOf(row) })} checked={chosen.includes(row.session_id)} onChange={() => onChoose(row.session_id)} className="accent-[var(--c-mark)]" />
        <StatusGlyph status={row.status} />
        {row.session_id === here ? <span className="min-w-0 truncate text-sm font-medium">{titleOf(row)}</span> : <Link href={`/s/${encodeURIComponent(row.session_id)}/tree`} className="min-w-0 truncate text-sm hover:underline">{titleOf(row)}</Link>}
        {node.at > 0 && <span className="num text-2xs whitespace-nowrap text-faint">{t("tree.from", { n: node.at })}</span>}
        <span className="flex-1" />
        <span className="text-xs text-faint max-sm:hidden">{statusText(row.status)}</span>
        {row.health !== undefined && <Score score={row.health.score} grade={row.health.grade} />}
        {(row.health?.cost_usd ?? 0) > 0 && <span className="num text-xs text-faint max-sm:hidden">{money(row.health!.cost_usd!)}</span>}
        <span className="w-10 text-end text-xs text-faint max-sm:hidden"><Ago at={row.updated_at} /></span>
      </div>
      {node.children.length > 0 && <ul className="ms-4 border-s border-line ps-3">{node.children.map((c) => <Twig key={c.row.session_id} node={c} here={here} chosen={chosen} onChoose={onChoose} />)}</ul>}
    </li>
  );
}

/** The last event that two sessions have in common, if one is the other's branch or both are of one. */
function common(a: Detail, b: Detail): number | undefined {
  const from = (d: Detail) => Number(d.branch_source_event_id?.split(".").at(-1));
  if (b.parent_session_id === a.session_id) return from(b);
  if (a.parent_session_id === b.session_id) return from(a);
  return a.parent_session_id !== undefined && a.parent_session_id === b.parent_session_id ? Math.min(from(a), from(b)) : undefined;
}

function Compare({ a, b }: { readonly a: string; readonly b: string }): ReactNode {
  const [both, setBoth] = useState<readonly [Detail, Detail]>();
  useEffect(() => {
    let here = true;
    Promise.all([api.detail(a), api.detail(b)]).then(([x, y]) => here && setBoth([x, y]), () => undefined);
    return () => void (here = false);
  }, [a, b]);
  if (both === undefined) return null;
  const same = common(...both);
  const lines: readonly (readonly [string, (d: Detail) => ReactNode])[] = [
    [t("compare.status"), (d) => <StatusBadge status={d.status} />],
    [t("compare.health"), (d) => (d.health === undefined ? "–" : <Score score={d.health.score} grade={d.health.grade} />)],
    [t("budget.cost"), (d) => (d.health === undefined || d.health.budget.cost_usd.unknown === true ? t("budget.unknown") : money(d.health.budget.cost_usd.used))],
    [t("budget.tokens"), (d) => number(d.health?.budget.total_tokens.used ?? 0)],
    [t("compare.time"), (d) => spell(d.health?.budget.runtime_minutes.used ?? 0)],
    [t("compare.files"), (d) => (d.changes === undefined ? "–" : <>{t("changes.files", { n: d.changes.files })} <Counts plus={d.changes.insertions} minus={d.changes.deletions} /></>)],
    [t("compare.messages"), (d) => number(d.message_count)],
    [t("compare.calls"), (d) => `${number(d.health?.counters.tool_calls ?? 0)} (${t("compare.failed", { n: d.health?.counters.failed_tool_calls ?? 0 })})`],
    [t("compare.events"), (d) => number(d.seq)],
    ...(same === undefined ? [] : [[t("compare.same"), () => number(same)] as const]),
  ];
  return (
    <Panel title={t("compare.title")}>
      <div className="overflow-x-auto" tabIndex={0} role="group" aria-label={t("compare.title")}>
        <table data-testid="compare" className="w-full table-fixed text-sm">
          <thead><tr><th className="w-28 sm:w-40" aria-label={t("compare.what")} />{both.map((d) => <th key={d.session_id} scope="col" className="py-1 text-start font-medium"><Link href={`/s/${d.session_id}`} className="hover:underline">{titleOf(d)}</Link></th>)}</tr></thead>
          <tbody>{lines.map(([name, show]) => <tr key={name} className="border-t border-line"><th scope="row" className="py-1.5 text-start text-xs font-normal text-quiet">{name}</th>{both.map((d) => <td key={d.session_id} className="num py-1.5">{show(d)}</td>)}</tr>)}</tbody>
        </table>
      </div>
    </Panel>
  );
}
