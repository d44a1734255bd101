import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import { Link } from "wouter";

import { RuleWords } from "../../approval/rule";
import { api, messageOf, type Rule, type Verdict } from "../../data/api";
import { toast } from "../../data/toasts";
import { t } from "../../i18n/more";
import { Button, Field, inputClass } from "../../ui/controls";
import * as I from "../../ui/icons";
import { Chip } from "../../ui/status";
import { Empty, Panel } from "../../ui/surface";
import { Ago } from "../../ui/time";

/** What is allowed for good, and what would be decided about a call. */
export function Policy(): ReactNode {
  const [rules, setRules] = useState<readonly Rule[]>();
  const load = () => api.rules().then((r) => setRules(r.rules), (e: unknown) => toast(messageOf(e), "bad"));
  useEffect(() => void load(), []);
  return (
    <>
      <Try />
      <Panel title={t("policy.rules")}>
        {rules !== undefined && rules.length === 0 ? <Empty icon={<I.Check size={20} />} title={t("policy.none")}>{t("policy.none.text")}</Empty> : (
          <ul className="divide-y divide-line">
            {rules?.map((r) => (
              <li key={r.rule_id} data-user className="flex items-center gap-3 py-2.5">
                <div className="min-w-0 flex-1">
                  <p className="text-sm leading-6"><RuleWords tool={r.tool_name} pattern={r.pattern} /></p>
                  <p className="truncate text-xs text-faint">{r.directory} · {r.actor} · <Ago at={r.created_at} /> · <Link href={`/s/${encodeURIComponent(r.session_id)}`} className="text-mark hover:underline">{t("policy.where")}</Link></p>
                </div>
                <Button size="sm" tone="danger" onClick={() => void api.revoke(r.rule_id).then(load, (e: unknown) => toast(messageOf(e), "bad"))}>{t("policy.revoke")}</Button>
              </li>
            ))}
          </ul>
        )}
      </Panel>
      <Panel title={t("policy.files")}><p className="text-sm text-quiet">{t("policy.files.text")}</p></Panel>
    </>
  );
}

const tones = { allow: "ok", ask: "warn", deny: "bad" } as const;

function Try(): ReactNode {
  const [verdict, setVerdict] = useState<Verdict & { readonly tool: string }>();
  const [error, setError] = useState("");
  const run = (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget);
    const tool = String(form.get("tool")), text = String(form.get("input"));
    const input = text.trim().startsWith("{") ? parsed(text) : tool === "bash" ? { command: text } : { path: text };
    api.tryPolicy({ tool, input, mode: String(form.get("mode")) }).then((v) => (setVerdict({ ...v, tool }), setError("")), (x: unknown) => (setVerdict(undefined), setError(messageOf(x))));
  };
  return (
    <Panel title={t("policy.try")}>
      <form onSubmit={run} className="space-y-3">
        <div className="grid gap-3 sm:grid-cols-[8rem_1fr_9rem]">
          <Field label={t("policy.tool")}><input name="tool" defaultValue="bash" required className={inputClass + " font-mono"} /></Field>
          <Field label={t("policy.input")}><input name="input" defaultValue="git push origin main" className={inputClass + " font-mono"} /></Field>
          <Field label={t("mode.title")}>
            <select name="mode" className={inputClass}><option value="normal">{t("mode.normal")}</option><option value="accept_edits">{t("mode.accept_edits")}</option><option value="full_auto">{t("mode.full_auto")}</option></select>
          </Field>
        </div>
        <div className="flex items-center gap-3"><Button type="submit" tone="primary">{t("policy.run")}</Button><span className="text-xs text-faint">{t("policy.run.what")}</span></div>
      </form>
      {error !== "" && <p role="alert" className="mt-3 rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad">{error}</p>}
      {verdict !== undefined && (
        <dl data-user data-testid="verdict" className="mt-4 space-y-1.5 rounded-lg border border-line bg-ground px-4 py-3 text-sm">
          <div className="flex items-center gap-3"><dt className="w-28 text-quiet">{t("policy.outcome")}</dt><dd><Chip tone={tones[verdict.outcome]}>{verdict.outcome}</Chip></dd></div>
          <div className="flex gap-3"><dt className="w-28 shrink-0 text-quiet">{t("policy.rule")}</dt><dd className="font-mono text-xs leading-5 [overflow-wrap:anywhere]">{verdict.rule}</dd></div>
          {verdict.reason !== undefined && <div className="flex gap-3"><dt className="w-28 shrink-0 text-quiet">{t("policy.reason")}</dt><dd>{verdict.reason}</dd></div>}
          {verdict.always !== undefined && <div className="flex gap-3"><dt className="w-28 shrink-0 text-quiet">{t("policy.always")}</dt><dd><RuleWords tool={verdict.tool} pattern={verdict.always} /></dd></div>}
        </dl>
      )}
    </Panel>
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return { text };
  }
}
