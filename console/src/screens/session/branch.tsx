import { type ReactNode, useState } from "react";
import { useLocation } from "wouter";

import { api, messageOf } from "../../data/api";
import { toast } from "../../data/toasts";
import { t } from "../../i18n/more";
import { Button, Field, inputClass } from "../../ui/controls";
import { Dialog } from "../../ui/surface";
import { useClient, useLive } from "./live";

/** Makes a session that begins with this one's history, and says what that means. */
export default function BranchDialog({ id, title, from, onClose }: { readonly id: string; readonly title: string; readonly from: string | undefined; readonly onClose: () => void }): ReactNode {
  const [name, setName] = useState(t("branch.name", { of: title }));
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const { row } = useLive();
  const client = useClient();
  const [, go] = useLocation();
  const make = async () => {
    setBusy(true);
    try {
      const made = await api.branch(id, from ?? `${id}.${client.seq ?? row?.seq ?? 1}`, name.trim());
      onClose();
      toast(t("branch.done"), "ok");
      go(`/s/${encodeURIComponent(made.session_id)}`);
    } catch (e) {
      setError(messageOf(e));
      setBusy(false);
    }
  };
  const seq = from?.split(".").at(-1);
  return (
    <Dialog
      title={t("branch.title")}
      open
      onClose={onClose}
      footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button tone="primary" disabled={busy} onClick={() => void make()}>{t("branch.make")}</Button></>}
    >
      <form className="space-y-4" onSubmit={(e) => (e.preventDefault(), void make())}>
        <p className="text-sm text-quiet">{seq !== undefined ? t("branch.text.at", { n: seq }) : t("branch.text")}</p>
        <ul className="list-disc space-y-1 ps-5 text-sm text-quiet">
          <li>{t("branch.keeps")}</li>
          <li>{t("branch.files")}</li>
          <li>{t("branch.again")}</li>
        </ul>
        <Field label={t("new.name")}><input autoFocus className={inputClass} value={name} maxLength={200} onChange={(e) => setName(e.target.value)} /></Field>
        {error !== "" && <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad">{error}</p>}
      </form>
    </Dialog>
  );
}
