import type { ReactNode } from "react";
import { Link } from "wouter";

import { type Action, actions, fixed, type Scope, useKeyNames } from "../data/bindings";
import { t } from "../i18n/more";
import { Kbd } from "../ui/controls";
import { Dialog } from "../ui/surface";
import { closeSheet } from "./open";

export const scopes: readonly Scope[] = ["everywhere", "approvals", "lists", "session"];

/** A key, one sign for each stroke of it. */
export function KeyName({ text }: { readonly text: string }): ReactNode {
  return <span className="flex gap-1">{text.split(" ").map((one, i) => <Kbd key={i} always>{one}</Kbd>)}</span>;
}

/** Every key there is, by where it works. */
export default function HelpSheet(): ReactNode {
  const key = useKeyNames();
  return (
    <Dialog title={t("help.title")} open onClose={closeSheet} size="lg">
      <div className="gap-x-10 sm:columns-2">
        {scopes.map((s) => (
          <section key={s} className="mb-6 break-inside-avoid">
            <h3 className="mb-2 text-2xs font-semibold tracking-wider text-faint uppercase">{t(`keys.${s}`)}</h3>
            <dl className="space-y-1.5">
              {(Object.keys(actions) as Action[]).filter((a) => actions[a].scope === s).map((a) => <Line key={a} what={t(actions[a].what)} text={key(a)} />)}
              {fixed.filter((f) => f.scope === s).map((f) => <Line key={f.what} what={t(f.what)} text={f.key} />)}
            </dl>
          </section>
        ))}
      </div>
      <Link href="/settings/keys" onClick={closeSheet} className="text-sm text-mark hover:underline">{t("keys.change")}</Link>
    </Dialog>
  );
}

function Line({ what, text }: { readonly what: string; readonly text: string | undefined }): ReactNode {
  return (
    <div className="flex items-center justify-between gap-4 text-sm">
      <dt className="text-quiet">{what}</dt>
      <dd>{text === undefined ? <span className="text-xs text-faint">{t("keys.none")}</span> : <KeyName text={text} />}</dd>
    </div>
  );
}
