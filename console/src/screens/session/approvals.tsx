import { type ReactNode, Suspense, useEffect, useMemo, useState } from "react";

import { approvals } from "../../data/approvals";
import { useStore } from "../../data/store";
import { t } from "../../i18n";
import { later } from "../../shell/later";
import { Button } from "../../ui/controls";
import { useHarness, useLive } from "./live";

const card = () => import("../../approval/card");
const ApprovalCard = later(async () => ({ default: (await card()).ApprovalCard }));

/** What waits for an answer, above the composer of whatever is looked at. */
export function Approvals(): ReactNode {
  const pending = useHarness((s) => s.pendingApprovals) ?? [];
  const { detail, row, id, shown } = useLive();
  useEffect(() => void (shown && card().catch(() => undefined)), [shown]); // it is there when something asks
  const everywhere = useStore(approvals).list;
  const [at, setAt] = useState<string>(); // the one that is shown, whatever comes and goes beside it
  const times = useMemo(() => new Map([...(detail?.approvals ?? []), ...everywhere.filter((a) => a.session_id === id)].map((a) => [a.request_id, a] as const)), [detail, everywhere, id]);
  if (pending.length === 0) return null;
  const index = Math.max(0, pending.findIndex((x) => x.requestId === at));
  const p = pending[index]!;
  if (p.requestId !== at) setAt(p.requestId);
  const known = times.get(p.requestId);
  return (
    <div className="mx-auto w-full max-w-3xl px-3 pb-2 sm:px-6">
      <Suspense>
        <ApprovalCard
          key={p.requestId}
          active
          asked={{ request_id: p.requestId, tool_name: p.toolName, description: p.description, reason: p.reason, input: p.input, redacted: p.redacted, deadline: p.deadline, requested_at: known?.requested_at, directory: row?.directory ?? detail?.directory }}
          head={
            pending.length > 1 && (
              <span className="inline-flex items-center gap-1 text-xs text-quiet">
                {t("approval.of", { i: index + 1, n: pending.length })}
                <Button size="sm" tone="quiet" onClick={() => setAt(pending[(index + 1) % pending.length]!.requestId)}>{t("approval.next")}</Button>
              </span>
            )
          }
        />
      </Suspense>
    </div>
  );
}
