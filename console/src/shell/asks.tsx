import type { ReactNode } from "react";
import { Link } from "wouter";

import { ApprovalCard } from "../approval/card";
import { approvals } from "../data/approvals";
import { lobby } from "../data/lobby";
import { titleOf } from "../data/notices";
import { createStore, useSelect, useStore } from "../data/store";
import { t } from "../i18n/more";
import { Button } from "../ui/controls";

/** Those that were answered or put off here, in whichever language and on whichever screen. */
const away = createStore<readonly string[]>([]);
const putOff = (id: string) => away.set((l) => [...l, id]);

/** What waits for an answer, below a screen that shows no questions: the oldest that nobody has put off. */
export default function Asks(): ReactNode {
  const { list } = useStore(approvals);
  const put = useStore(away);
  const open = list.filter((a) => !put.includes(a.request_id)).sort((a, b) => (a.requested_at < b.requested_at ? -1 : 1));
  const a = open[0];
  const rows = useSelect(lobby, (l) => l.rows);
  if (a === undefined) return null;
  const row = rows.get(a.session_id);
  return (
    <aside data-testid="asks" aria-label={t("nav.waiting", { n: open.length })} className="mx-auto w-full max-w-3xl shrink-0 px-3 py-2 sm:px-6">
      <ApprovalCard
        key={a.request_id}
        active
        asked={{ ...a, directory: row?.directory }}
        onAnswered={() => putOff(a.request_id)}
        head={
          <>
            <Link href={`/s/${encodeURIComponent(a.session_id)}`} className="min-w-0 truncate text-sm text-quiet hover:text-ink hover:underline">{titleOf(row ?? a)}</Link>
            <Button size="sm" tone="quiet" onClick={() => putOff(a.request_id)}>{t("approval.later")}</Button>
          </>
        }
      />
    </aside>
  );
}
