import { type ReactNode, useEffect, useState } from "react";

import { api, type Verdict } from "../data/api";
import { plain } from "../data/plain";
import { t } from "../i18n/more";
import { Button } from "../ui/controls";
import type { Asked } from "./card";

const codeClass = "rounded border border-line bg-sunken px-1.5 py-0.5 font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]";

const kinds = ["command", "exact", "inside", "path", "host"] as const;

/** What a standing rule allows, in words: its tool, and on what. */
export function RuleWords({ tool, pattern = "" }: { readonly tool: string; readonly pattern?: string | undefined }): ReactNode {
  const cut = pattern.indexOf(":"), kind = kinds.find((k) => k === pattern.slice(0, cut));
  const what = kind === undefined ? pattern : pattern.slice(cut + 1);
  const words = kind !== undefined ? t(`rule.of.${kind}`) : pattern === "" ? t("rule.every") : "";
  return (
    <span>
      <code className={codeClass}>{plain(tool)}</code> {words}{what !== "" && kind !== "exact" && <> <code className={codeClass}>{plain(what)}</code></>}
    </span>
  );
}

/** What would be saved, before it is. */
export default function Rule({ asked, scope, busy, onCancel, onSend }: { readonly asked: Asked; readonly scope: "session" | "always"; readonly busy: boolean; readonly onCancel: () => void; readonly onSend: () => void }): ReactNode {
  const [verdict, setVerdict] = useState<Verdict | "unknown">();
  useEffect(() => {
    let here = true;
    api.tryPolicy({ tool: asked.tool_name, input: asked.input, ...(asked.directory !== undefined && { directory: asked.directory }) }).then((v) => here && setVerdict(v), () => here && setVerdict("unknown"));
    return () => void (here = false);
  }, [asked.request_id]);
  return (
    <div className="space-y-2">
      <p data-testid="rule" aria-busy={verdict === undefined} className="text-sm leading-6">
        {scope === "always" ? t("rule.always") : t("rule.session")}{" "}
        {verdict === undefined ? <span className="text-faint">…</span> : verdict === "unknown" ? t("rule.unknown") : <RuleWords tool={asked.tool_name} pattern={verdict.always} />}
      </p>
      <p className="text-xs text-faint">{scope === "always" ? t("rule.where") : t("rule.until")}</p>
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>{t("cancel")}</Button>
        <Button tone="primary" disabled={busy || verdict === undefined} onClick={onSend}>{scope === "always" ? t("rule.save") : t("rule.allow")}</Button>
      </div>
    </div>
  );
}
