import { type ReactNode, useEffect, useState } from "react";

import { api, messageOf, type Rewound, type RewoundFile } from "../../data/api";
import { toast } from "../../data/toasts";
import { t } from "../../i18n/more";
import { Button, Switch } from "../../ui/controls";
import { Counts } from "../../ui/diff";
import { Dialog } from "../../ui/surface";
import { useStatus } from "./live";

/** Takes files back to before a message. What that would do is shown first; nobody's own edits are lost by accident. */
export default function RewindDialog({ id, message, onClose }: { readonly id: string; readonly message: string; readonly onClose: () => void }): ReactNode {
  const [plan, setPlan] = useState<Rewound>();
  const [error, setError] = useState("");
  const [force, setForce] = useState(false);
  const [busy, setBusy] = useState(false);
  const status = useStatus();
  const runs = status === "running" || status === "awaiting_approval" || status === "recovering"; // files are taken back between turns
  useEffect(() => {
    if (runs) return;
    let here = true;
    setPlan(undefined);
    setError("");
    api.rewind(id, message, true, force).then((r) => here && setPlan(r), (e: unknown) => here && setError(messageOf(e)));
    return () => void (here = false);
  }, [id, message, force, runs]);
  const carryOut = async () => {
    setBusy(true);
    try {
      const r = await api.rewind(id, message, false, force);
      if (r.error !== undefined && r.error !== "") throw new Error(r.error);
      toast(t("rewind.done", { n: r.restore.length + r.delete.length }), "ok");
      onClose();
    } catch (e) {
      setError(messageOf(e));
      setBusy(false);
    }
  };
  const changes = (plan?.restore.length ?? 0) + (plan?.delete.length ?? 0);
  return (
    <Dialog
      title={t("rewind.title")}
      open
      onClose={onClose}
      footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button tone="primary" disabled={busy || runs || plan === undefined || changes === 0} onClick={() => void carryOut()}>{changes === 0 ? t("rewind.title") : t("rewind.do", { n: changes })}</Button></>}
    >
      <div className="space-y-4" data-testid="rewind">
        <p className="text-sm text-quiet">{t("rewind.text")}</p>
        {runs && <p role="status" className="rounded-lg bg-warn-soft px-3 py-2 text-sm text-warn">{t("rewind.runs")}</p>}
        {!runs && plan === undefined && error === "" && <p aria-busy="true" className="text-sm text-faint">{t("rewind.looking")}</p>}
        {plan !== undefined && changes === 0 && plan.conflict.length === 0 && <p className="rounded-lg bg-sunken px-3 py-2 text-sm">{t("rewind.nothing")}</p>}
        {plan !== undefined && (
          <>
            <Files title={t("rewind.restore")} list={plan.restore} />
            <Files title={t("rewind.delete")} list={plan.delete} />
            <Files title={t("rewind.conflict")} list={plan.conflict} warn />
            <Files title={t("rewind.skipped")} list={plan.skipped} />
            {(plan.conflict.length > 0 || force) && <Switch label={t("rewind.force")} hint={t("rewind.force.what")} checked={force} onChange={setForce} />}
            <p className="text-xs text-faint">{t("rewind.undo")}</p>
          </>
        )}
        {error !== "" && <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad">{error}</p>}
      </div>
    </Dialog>
  );
}

function Files({ title, list, warn = false }: { readonly title: string; readonly list: readonly RewoundFile[]; readonly warn?: boolean }): ReactNode {
  if (list.length === 0) return null;
  return (
    <section>
      <h3 className={`mb-1 text-xs font-medium ${warn ? "text-warn" : "text-quiet"}`}>{title}</h3>
      <ul className="divide-y divide-line rounded-lg border border-line">
        {list.map((f) => (
          <li key={f.path} className="flex items-center justify-between gap-3 px-3 py-1.5">
            <span className="min-w-0 truncate font-mono text-xs" title={f.path}>{f.path}</span>
            {f.reason !== undefined && f.reason !== "" ? <span className="text-xs text-faint">{f.reason}</span> : f.binary === true ? <span className="text-xs text-faint">{t("rewind.binary")}</span> : <Counts plus={f.insertions} minus={f.deletions} />}
          </li>
        ))}
      </ul>
    </section>
  );
}
