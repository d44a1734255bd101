import { type FormEvent, type ReactNode, useEffect, useMemo, useState } from "react";

import { api, type Detail, messageOf } from "../../data/api";
import { lobby } from "../../data/lobby";
import { titleOf } from "../../data/notices";
import { useStore } from "../../data/store";
import { toast } from "../../data/toasts";
import { t } from "../../i18n/more";
import { Button, Field, inputClass } from "../../ui/controls";
import { Panel } from "../../ui/surface";

const limits = ["cost_usd", "total_tokens", "runtime_minutes", "context_usage_pct", "failed_tool_calls", "min_score"] as const;

/** What a session may use up, and what happens then. */
export function Budgets(): ReactNode {
  const { rows } = useStore(lobby);
  const list = useMemo(() => [...rows.values()].sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1)).slice(0, 200), [rows]);
  const [id, setId] = useState("");
  const [detail, setDetail] = useState<Detail>();
  const chosen = id === "" ? (list[0]?.session_id ?? "") : id;
  useEffect(() => {
    setDetail(undefined);
    if (chosen === "") return;
    let here = true;
    api.detail(chosen).then((d) => here && setDetail(d), (e: unknown) => here && toast(messageOf(e), "bad"));
    return () => void (here = false);
  }, [chosen]);
  const save = (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget);
    const health: Record<string, unknown> = { action: form.get("action") };
    for (const l of limits) if (String(form.get(l)) !== "") health[l] = Number(form.get(l));
    api.configure(chosen, { policy: { health } }).then(() => toast(t("budgets.saved"), "ok"), (x: unknown) => toast(messageOf(x), "bad"));
  };
  const now = detail?.health?.policy.health;
  return (
    <Panel title={t("settings.budgets")}>
      <p className="mb-4 text-sm text-quiet">{t("budgets.text")}</p>
      <Field label={t("budgets.session")}>
        <select data-user className={inputClass} value={chosen} onChange={(e) => setId(e.target.value)}>{list.map((r) => <option key={r.session_id} value={r.session_id}>{titleOf(r)}</option>)}</select>
      </Field>
      {detail !== undefined && (
        <form key={detail.session_id} onSubmit={save} className="mt-4 space-y-4">
          <div className="grid gap-4 sm:grid-cols-2">
            {limits.map((l) => <Field key={l} label={t(`limit.${l}`)}><input name={l} type="number" min={0} step="any" defaultValue={now?.[l] ?? ""} placeholder={t("budgets.none")} className={inputClass + " num"} /></Field>)}
          </div>
          <Field label={t("budgets.action")}>
            <select name="action" defaultValue={now?.action === "pause" ? "pause" : "require_approval"} className={inputClass}><option value="require_approval">{t("budgets.ask")}</option><option value="pause">{t("budgets.pause")}</option></select>
          </Field>
          <Button type="submit" tone="primary">{t("budgets.save")}</Button>
        </form>
      )}
    </Panel>
  );
}
