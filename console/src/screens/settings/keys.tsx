import { type ReactNode, useEffect, useState } from "react";

import { type Action, actions, conflict, keyOf, strokeOf, useKeyNames } from "../../data/bindings";
import { prefs, setPrefs, usePref } from "../../data/prefs";
import { t } from "../../i18n/more";
import { KeyName, scopes } from "../../shell/help";
import { Button } from "../../ui/controls";
import { Panel } from "../../ui/surface";

/** How long a second stroke is waited for. */
const between = 900;

/** What the browser needs itself. */
const taken = /^mod\+[acflnprstvwxyz0-9+-]$/;

/** Every key, and another if somebody wants it. */
export function Keys(): ReactNode {
  const changed = usePref("keys");
  const name = useKeyNames();
  const [asking, setAsking] = useState<Action>();
  const [said, setSaid] = useState("");
  const set = (a: Action, key: string) => {
    setAsking(undefined);
    const other = conflict(a, key);
    if (other !== undefined) return setSaid(t("keys.taken", { key: key, what: t(actions[other].what) }));
    const { [a]: _, ...rest } = prefs.get().keys;
    setPrefs({ keys: key === actions[a].key ? rest : { ...rest, [a]: key } });
    setSaid(key === "" ? t("keys.off", { what: t(actions[a].what) }) : "");
  };
  return (
    <>
      <p className="px-1 text-sm text-quiet">{t("keys.text")}</p>
      <p role="status" className="sticky top-0 z-10 rounded-lg bg-warn-soft px-3 py-2 text-sm text-warn empty:sr-only">{said}</p>
      {scopes.map((s) => (
        <Panel key={s} title={t(`keys.${s}`)}>
          <ul className="divide-y divide-line">
            {(Object.keys(actions) as Action[]).filter((a) => actions[a].scope === s).map((a) => {
              const what = t(actions[a].what);
              return (
                <li key={a} data-action={a} className="flex min-h-10 items-center gap-3 py-1">
                  <span className="min-w-0 flex-1 text-sm">{what}</span>
                  {changed[a] !== undefined && <Button size="sm" tone="quiet" aria-label={t("keys.usual.of", { what })} onClick={() => set(a, actions[a].key)}>{t("keys.usual")}</Button>}
                  {asking === a ? <Asking onKey={(key) => set(a, key)} onFixed={() => setSaid(t("keys.fixed"))} onCancel={() => setAsking(undefined)} /> : (
                    <button type="button" onClick={() => (setSaid(""), setAsking(a))} className="inline-flex h-8 min-w-24 items-center justify-center rounded-lg border border-edge bg-raised px-3 hover:bg-sunken">
                      <span className="sr-only">{t("keys.change.of", { what })}</span>
                      {keyOf(a) === "" ? <span className="text-xs text-faint">{t("keys.none")}</span> : <KeyName text={name(a)!} />}
                    </button>
                  )}
                </li>
              );
            })}
          </ul>
        </Panel>
      ))}
      {Object.keys(changed).length > 0 && <Button onClick={() => (setPrefs({ keys: {} }), setSaid(""))}>{t("keys.reset")}</Button>}
    </>
  );
}

/** Waits for one stroke, or two that follow each other. */
function Asking({ onKey, onFixed, onCancel }: { readonly onKey: (key: string) => void; readonly onFixed: () => void; readonly onCancel: () => void }): ReactNode {
  const [first, setFirst] = useState("");
  useEffect(() => {
    const hear = (e: KeyboardEvent) => {
      if (/^(Shift|Control|Meta|Alt|AltGraph|CapsLock)$/.test(e.key)) return;
      if (e.key === "Tab") return onCancel();
      e.preventDefault();
      e.stopPropagation();
      if (e.key === "Escape") return onCancel();
      if (e.key === "Backspace" || e.key === "Delete") return onKey("");
      const stroke = strokeOf(e);
      if (stroke === undefined || taken.test(stroke)) return onFixed();
      if (first !== "" || stroke.startsWith("mod+")) return onKey(first === "" ? stroke : `${first} ${stroke}`);
      setFirst(stroke);
    };
    addEventListener("keydown", hear, true);
    const timer = first === "" ? undefined : setTimeout(() => onKey(first), between);
    return () => (removeEventListener("keydown", hear, true), clearTimeout(timer));
  });
  return <button type="button" autoFocus onClick={onCancel} onBlur={onCancel} data-asking className="inline-flex h-8 min-w-24 items-center justify-center gap-1 rounded-lg border border-mark bg-mark-soft px-3 text-xs text-mark">{first === "" ? t("keys.press") : <><KeyName text={first} /> …</>}</button>;
}
