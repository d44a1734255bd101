import { type FormEvent, type ReactNode, useEffect, useState } from "react";

import { api, messageOf, type Token } from "../../data/api";
import { toast } from "../../data/toasts";
import { t } from "../../i18n/more";
import { Button, Field, inputClass } from "../../ui/controls";
import { CopyButton } from "../../ui/copy";
import * as I from "../../ui/icons";
import { Chip } from "../../ui/status";
import { Panel } from "../../ui/surface";
import { Ago } from "../../ui/time";

const roles = ["viewer", "operator", "approver", "admin"] as const;

/** What programs come in with. A token is told to who makes it, once. */
export function Tokens(): ReactNode {
  const [tokens, setTokens] = useState<readonly Token[]>();
  const [error, setError] = useState("");
  const [adding, setAdding] = useState(false);
  const [made, setMade] = useState<Token>();
  const load = () => api.tokens().then((l) => (setTokens(l.tokens), setError("")), (e: unknown) => setError(messageOf(e)));
  useEffect(() => void load(), []);
  const remove = (name: string) => void api.removeToken(name).then(load, (e: unknown) => toast(messageOf(e), "bad"));
  return (
    <Panel title={t("access.tokens")}>
      <p className="text-sm text-quiet">{t("access.tokens.text")}</p>
      {error !== "" && <p role="alert" data-user className="mt-3 rounded-lg bg-sunken px-3 py-2 text-sm text-quiet">{error}</p>}
      {tokens === undefined && error === "" && <p aria-busy="true" className="mt-3 text-sm text-faint">{t("loading")}</p>}
      {tokens !== undefined && tokens.length === 0 && <p className="mt-3 rounded-lg bg-sunken px-3 py-2 text-sm text-quiet">{t("tokens.none")}</p>}
      {tokens !== undefined && tokens.length > 0 && <ul className="mt-2 divide-y divide-line">{tokens.map((k) => <One key={k.name} token={k} onRemove={() => remove(k.name)} />)}</ul>}
      {made?.token !== undefined && (
        <div data-testid="token" className="mt-3 rounded-lg border border-ok bg-ok-soft px-3 py-2.5">
          <p className="text-sm">{t("tokens.made", { name: made.name })}</p>
          <div data-user className="mt-1.5 flex items-center gap-2 rounded-md border border-line bg-panel px-2 py-1"><code className="min-w-0 flex-1 font-mono text-xs [overflow-wrap:anywhere]">{made.token}</code><CopyButton text={made.token} /></div>
          <div className="mt-2"><Button size="sm" onClick={() => setMade(undefined)}>{t("hooks.kept")}</Button></div>
        </div>
      )}
      {tokens !== undefined && (adding
        ? <Add onCancel={() => setAdding(false)} onMade={(k) => (setAdding(false), setMade(k), void load())} />
        : <div className="mt-3"><Button onClick={() => (setAdding(true), setMade(undefined))}><I.Plus size={13} />{t("tokens.add")}</Button></div>)}
      <p className="mt-4 text-xs text-faint">{t("tokens.shell")}</p>
    </Panel>
  );
}

function One({ token: k, onRemove }: { readonly token: Token; readonly onRemove: () => void }): ReactNode {
  const [sure, setSure] = useState(false);
  return (
    <li data-token={k.name} className="flex flex-wrap items-center gap-2 py-3">
      <div data-user className="min-w-0 flex-1 basis-56">
        <p className="flex items-center gap-2 text-sm font-medium"><span className="truncate">{k.name}</span><Chip>{t(`tokens.role.${k.role}`)}</Chip></p>
        <p className="text-xs text-quiet [overflow-wrap:anywhere]">{[k.user_id, ...(k.scope ?? [])].filter(Boolean).join(" · ")}</p>
        <p className="text-xs text-faint">{t("tokens.since")} <Ago at={k.created_at} />{k.expires_at !== undefined && ` · ${t("tokens.until", { date: new Date(k.expires_at).toLocaleString() })}`}</p>
      </div>
      {sure && <Button size="sm" onClick={() => setSure(false)}>{t("cancel")}</Button>}
      <Button size="sm" tone="danger" onClick={() => (sure ? onRemove() : setSure(true))}>{sure ? t("tokens.end.sure") : t("tokens.end")}</Button>
    </li>
  );
}

function Add({ onCancel, onMade }: { readonly onCancel: () => void; readonly onMade: (k: Token) => void }): ReactNode {
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const add = (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget);
    const value = (name: string) => String(form.get(name)).trim();
    const days = Number(value("days"));
    setBusy(true);
    api.addToken({ name: value("name"), role: value("role") as Token["role"], ...(value("user") !== "" && { user_id: value("user") }), ...(value("scope") !== "" && { scope: value("scope") }), ...(days > 0 && { expires_at: new Date(Date.now() + days * 86_400_000).toISOString() }) })
      .then(onMade, (x: unknown) => (setError(messageOf(x)), setBusy(false)));
  };
  return (
    <form onSubmit={add} className="mt-3 space-y-3 rounded-lg border border-line bg-ground p-4">
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label={t("hooks.name")}><input name="name" required maxLength={64} autoFocus autoComplete="off" className={inputClass} placeholder="ci" /></Field>
        <Field label={t("access.role")}><select name="role" defaultValue="operator" className={inputClass}>{roles.map((r) => <option key={r} value={r}>{t(`tokens.role.${r}`)}</option>)}</select></Field>
        <Field label={t("tokens.user")}><input name="user" maxLength={128} autoComplete="off" className={inputClass} placeholder="ada" /></Field>
        <Field label={t("tokens.days")}><input name="days" type="number" min={0} max={3650} className={inputClass} placeholder="∞" /></Field>
      </div>
      <Field label={t("tokens.scope")}><input name="scope" maxLength={4096} autoComplete="off" className={inputClass + " font-mono"} placeholder="read,submit,dir:/srv/site" /></Field>
      {error !== "" && <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad">{error}</p>}
      <div className="flex justify-end gap-2"><Button onClick={onCancel}>{t("cancel")}</Button><Button type="submit" tone="primary" disabled={busy}>{t("tokens.make")}</Button></div>
    </form>
  );
}
