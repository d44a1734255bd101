import { type FormEvent, type ReactNode, useEffect, useState } from "react";

import { api, type Hook, type HookKind, hookKinds, messageOf, usualKinds } from "../../data/api";
import { toast } from "../../data/toasts";
import { t } from "../../i18n/more";
import { Button, Field, inputClass } from "../../ui/controls";
import { CopyButton } from "../../ui/copy";
import * as I from "../../ui/icons";
import { Chip } from "../../ui/status";
import { Panel } from "../../ui/surface";
import { Ago } from "../../ui/time";

/** Whom the server tells, also when no page is open: webhooks, and commands of the server's own file. */
export function Hooks(): ReactNode {
  const [hooks, setHooks] = useState<readonly Hook[]>();
  const [error, setError] = useState("");
  const [adding, setAdding] = useState(false);
  const [made, setMade] = useState<Hook>();
  const load = () => api.hooks().then((h) => (setHooks(h.webhooks), setError("")), (e: unknown) => setError(messageOf(e)));
  useEffect(() => void load(), []);
  const remove = (h: Hook) => void api.removeHook(h.name).then(load, (e: unknown) => toast(messageOf(e), "bad"));
  return (
    <Panel title={t("hooks.title")}>
      <p className="text-sm text-quiet">{t("hooks.text")}</p>
      {error !== "" && <p role="alert" className="mt-3 rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad">{error}</p>}
      {hooks === undefined && error === "" && <p aria-busy="true" className="mt-3 text-sm text-faint">{t("loading")}</p>}
      {hooks !== undefined && hooks.length === 0 && <p className="mt-3 rounded-lg bg-sunken px-3 py-2 text-sm text-quiet">{t("hooks.none")}</p>}
      {hooks !== undefined && hooks.length > 0 && <ul className="mt-2 divide-y divide-line">{hooks.map((h) => <One key={h.name} hook={h} onRemove={() => remove(h)} />)}</ul>}
      {made?.secret !== undefined && <Secret name={made.name} secret={made.secret} onClose={() => setMade(undefined)} />}
      {hooks !== undefined && (adding
        ? <Add onCancel={() => setAdding(false)} onMade={(h) => (setAdding(false), setMade(h), void load())} />
        : <div className="mt-3"><Button onClick={() => (setAdding(true), setMade(undefined))}><I.Plus size={13} />{t("hooks.add")}</Button></div>)}
      <p className="mt-4 text-xs text-faint">{t("hooks.commands")}</p>
    </Panel>
  );
}

function One({ hook: h, onRemove }: { readonly hook: Hook; readonly onRemove: () => void }): ReactNode {
  const [said, setSaid] = useState<{ readonly ok: boolean; readonly text: string }>();
  const [busy, setBusy] = useState(false);
  const [sure, setSure] = useState(false);
  const test = () => {
    setBusy(true);
    setSaid(undefined);
    api.tryHook(h.name).then(
      (r) => setSaid(r.delivered ? { ok: true, text: t("hooks.delivered", { n: r.elapsed_ms }) } : { ok: false, text: r.problem ?? t("hooks.refused") }),
      (e: unknown) => setSaid({ ok: false, text: messageOf(e) }),
    ).finally(() => setBusy(false));
  };
  return (
    <li data-hook={h.name} className="py-3">
      <div className="flex flex-wrap items-center gap-2">
        <div data-user className="min-w-0 flex-1 basis-56">
          <p className="flex items-center gap-2 text-sm font-medium"><span className="truncate">{h.name}</span>{h.command === true && <Chip><I.Terminal size={10} />{t("hooks.command")}</Chip>}{h.waiting > 0 && <Chip tone="warn">{t("hooks.waiting", { n: h.waiting })}</Chip>}</p>
          {h.url !== undefined && <p className="font-mono text-xs text-quiet [overflow-wrap:anywhere]">{h.url}</p>}
          <p className="text-xs text-faint">{h.on.map((k) => kindText(k)).join(" · ")}{h.kind !== undefined && h.kind !== "" ? ` · ${t("hooks.only", { kind: h.kind })}` : ""}{h.user_id !== undefined && h.user_id !== "" ? ` · ${h.user_id}` : ""}</p>
          {h.last_error !== undefined && h.last_failed_at !== undefined && <p className="text-xs text-bad">{t("hooks.failing", { n: h.failures ?? 1, why: h.last_error })} <Ago at={h.last_failed_at} /></p>}
        </div>
        {sure ? (
          <>
            <Button size="sm" onClick={() => setSure(false)}>{t("cancel")}</Button>
            <Button size="sm" tone="danger" onClick={onRemove}>{t("hooks.remove.sure")}</Button>
          </>
        ) : (
          <>
            <Button size="sm" disabled={busy} onClick={test}><I.Bell size={12} />{busy ? t("hooks.testing") : t("notify.test")}</Button>
            {h.removable && <Button size="sm" tone="danger" onClick={() => setSure(true)}>{t("hooks.remove")}</Button>}
          </>
        )}
      </div>
      <p role="status" className={`text-xs [overflow-wrap:anywhere] ${said === undefined ? "" : "mt-1"} ${said?.ok === true ? "text-ok" : "text-bad"}`}>{said?.text}</p>
    </li>
  );
}

function kindText(k: string): string {
  return (hookKinds as readonly string[]).includes(k) ? t(`hooks.on.${k as HookKind}`) : k;
}

/** What signs the notices. It is told once. */
function Secret({ name, secret, onClose }: { readonly name: string; readonly secret: string; readonly onClose: () => void }): ReactNode {
  return (
    <div data-testid="secret" className="mt-3 rounded-lg border border-ok bg-ok-soft px-3 py-2.5">
      <p className="text-sm">{t("hooks.secret", { name })}</p>
      <div data-user className="mt-1.5 flex items-center gap-2 rounded-md border border-line bg-panel px-2 py-1"><code className="min-w-0 flex-1 font-mono text-xs [overflow-wrap:anywhere]">{secret}</code><CopyButton text={secret} /></div>
      <div className="mt-2"><Button size="sm" onClick={onClose}>{t("hooks.kept")}</Button></div>
    </div>
  );
}

function Add({ onCancel, onMade }: { readonly onCancel: () => void; readonly onMade: (h: Hook) => void }): ReactNode {
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const add = (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget);
    const kind = String(form.get("kind"));
    setBusy(true);
    api.addHook({ name: String(form.get("name")).trim(), url: String(form.get("url")).trim(), on: hookKinds.filter((k) => form.get(k) !== null).join(","), ...(kind !== "" && { kind }) })
      .then(onMade, (x: unknown) => (setError(messageOf(x)), setBusy(false)));
  };
  return (
    <form onSubmit={add} className="mt-3 space-y-3 rounded-lg border border-line bg-ground p-4">
      <div className="grid gap-3 sm:grid-cols-[10rem_1fr]">
        <Field label={t("hooks.name")}><input name="name" required maxLength={64} autoFocus autoComplete="off" className={inputClass} placeholder="ops" /></Field>
        <Field label={t("hooks.url")}><input name="url" type="url" required maxLength={4096} autoComplete="off" className={inputClass + " font-mono"} placeholder="https://example.com/agents" /></Field>
      </div>
      <fieldset>
        <legend className="mb-1 text-xs font-medium text-quiet">{t("hooks.on")}</legend>
        <div className="grid gap-x-4 gap-y-1.5 sm:grid-cols-3">
          {hookKinds.map((k) => <label key={k} className="flex items-center gap-2 text-sm"><input type="checkbox" name={k} defaultChecked={usualKinds.includes(k)} className="size-4 accent-[var(--c-mark)]" />{t(`hooks.on.${k}`)}</label>)}
        </div>
      </fieldset>
      <Field label={t("hooks.kind")}>
        <select name="kind" className={inputClass}><option value="">{t("hooks.kind.all")}</option><option value="chat">{t("hooks.kind.chat")}</option><option value="background">{t("hooks.kind.background")}</option></select>
      </Field>
      {error !== "" && <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad">{error}</p>}
      <div className="flex justify-end gap-2"><Button onClick={onCancel}>{t("cancel")}</Button><Button type="submit" tone="primary" disabled={busy}>{t("hooks.add")}</Button></div>
    </form>
  );
}
