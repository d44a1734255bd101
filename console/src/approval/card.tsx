import { type ReactNode, Suspense, useEffect, useRef, useState } from "react";

import { api, messageOf } from "../data/api";
import { useKeyNames } from "../data/bindings";
import { riskOf } from "../data/harm";
import { useKeys } from "../data/keys";
import { plain } from "../data/plain";
import { toolKind } from "../data/risk";
import { useSeen } from "../data/seen";
import { t } from "../i18n/card";
import { later } from "../shell/later";
import { Button, inputClass } from "../ui/controls";
import * as I from "../ui/icons";
import { Chip } from "../ui/status";
import { Slide, Swipe } from "../ui/swipe";
import { shortAge, useTick, Waiting } from "../ui/time";
import { ToolIcon } from "./tool-icon";
import { Fields, What } from "./what";

const Rule = later(() => import("./rule"));

export interface Asked {
  readonly request_id: string;
  readonly tool_name: string;
  readonly description?: string | undefined;
  readonly reason?: string | undefined;
  readonly input?: unknown;
  readonly requested_at?: string | undefined;
  readonly deadline?: string | undefined;
  readonly directory?: string | undefined;
  readonly redacted?: boolean | undefined; // something of it is hidden
}

export type Answer = { readonly decision: "allow" | "deny"; readonly scope?: "once" | "session" | "always"; readonly reason?: string };

const nothing = () => undefined;
const deaf = { approve: nothing, deny: nothing, say: nothing, always: nothing };

/** Sends an answer; the first one wins. */
export function answer(request: string, a: Answer): Promise<unknown> {
  return api.answer(request, a);
}

/**
 * A question that waits: what would be done, how much it can break, and the
 * answers. It takes none until it was to be seen for a moment, and one at most. Keys
 * work while it is the active one, and while it is quiet do nothing; none approves
 * a high risk.
 */
export function ApprovalCard({ asked, active, quiet = false, head, onAnswered }: { readonly asked: Asked; readonly active: boolean; readonly quiet?: boolean; readonly head?: ReactNode; readonly onAnswered?: (a: Answer) => void }): ReactNode {
  const [mode, setMode] = useState<"ask" | "deny" | "always" | "session" | "sure">("ask");
  const [sent, setSent] = useState(false);
  const [error, setError] = useState("");
  const key = useKeyNames();
  const risk = riskOf(asked.tool_name, asked.input);
  const question = toolKind(asked.tool_name) === "ask";
  const limit = asked.tool_name === "health_policy";
  const once = risk === "high" || limit || asked.redacted === true; // no rule is made of it
  const seen = useSeen(asked.request_id), busy = sent || !seen;
  const send = (a: Answer) => {
    if (busy) return;
    setSent(true);
    setError("");
    answer(asked.request_id, a).then(() => onAnswered?.(a), (e: unknown) => (setError(messageOf(e)), setSent(false)));
  };
  const turn = (to: typeof mode) => void (busy || setMode(to));
  const approve = () => (risk === "high" && mode !== "sure" ? turn("sure") : send({ decision: "allow" }));
  const deny = () => send({ decision: "deny" });
  const keys = question ? { deny } : {
    approve: () => (risk === "high" ? turn("sure") : send({ decision: "allow" })),
    deny,
    say: () => turn("deny"),
    always: () => (once ? undefined : turn("always")),
    Escape: () => (mode === "ask" ? false as const : setMode("ask")),
  };
  useKeys(quiet ? deaf : keys, active, "card");
  const edge = risk === "high" ? "border-bad" : "border-warn";
  const asks = mode === "ask" && !busy;
  return (
    <Swipe
      right={asks && !question ? { label: risk === "high" ? t("approval.approve.more") : limit ? t("approval.continue") : t("approval.approve"), icon: <I.Check />, tone: risk === "high" ? "warn" : "ok", run: approve } : undefined}
      left={asks ? { label: question ? t("approval.decline") : t("approval.deny"), icon: <I.Close />, tone: "bad", run: deny } : undefined}
    >
      <div role="group" aria-label={t("approval.title", { tool: asked.tool_name })} data-approval={asked.request_id} data-ready={active && !busy && !quiet} className={`rise overflow-hidden rounded-xl border bg-panel ${active ? edge : "border-line"}`}>
        <header className="flex flex-wrap items-center gap-x-2 gap-y-1 px-4 pt-3">
          <span className={risk === "high" ? "text-bad" : "text-warn"}><ToolIcon tool={asked.tool_name} /></span>
          <span className="font-mono text-sm font-semibold">{question ? t("approval.question") : limit ? t("approval.limit") : plain(asked.tool_name)}</span>
          {head}
          <span className="flex-1" />
          {!question && <Chip tone={risk === "high" ? "bad" : risk === "medium" ? "warn" : "ok"}>{t(`risk.${risk}`)}</Chip>}
          {asked.requested_at !== undefined && <span className="text-xs text-faint">{t("approval.waits")} <Waiting since={asked.requested_at} /></span>}
          {asked.deadline !== undefined && <Expires at={asked.deadline} />}
        </header>
        <div className="max-h-[40dvh] space-y-2 overflow-y-auto px-4 py-2.5" tabIndex={0} role="group" aria-label={t("approval.what")}>
          {question ? <Question asked={asked} /> : <What input={asked.input} description={asked.description} />}
          {asked.reason !== undefined && asked.reason !== "" && <p className="text-xs text-quiet">{t("approval.because")} {plain(asked.reason)}</p>}
        </div>
        {error !== "" && <p role="alert" className="mx-4 mb-2 rounded-lg bg-bad-soft px-3 py-1.5 text-sm text-bad">{error}</p>}
        <footer className="border-t border-line bg-ground px-4 py-2.5">
          {question ? (
            <Reply asked={asked} busy={busy} onSend={send} active={active && !quiet} />
          ) : mode === "deny" ? (
            <Say label={t("approval.say")} send={t("approval.deny")} busy={busy} onCancel={() => setMode("ask")} onSend={(reason) => send({ decision: "deny", reason })} />
          ) : mode === "always" || mode === "session" ? (
            <Suspense fallback={<p className="h-24" />}><Rule asked={asked} scope={mode} busy={busy} onCancel={() => setMode("ask")} onSend={() => send({ decision: "allow", scope: mode })} /></Suspense>
          ) : mode === "sure" ? (
            <div className="flex flex-wrap items-center gap-2">
              <span className="flex-1 text-sm text-bad">{t("approval.sure")}</span>
              <Button onClick={() => setMode("ask")} className="max-sm:!h-12">{t("cancel")}</Button>
              <Button tone="danger" disabled={busy} onClick={() => send({ decision: "allow" })} className="max-sm:hidden">{t("approval.sure.yes")}</Button>
              <div className="w-full sm:hidden"><Slide label={t("approval.slide")} disabled={busy} onDone={() => send({ decision: "allow" })} /></div>
            </div>
          ) : (
            <div className="flex flex-wrap gap-2 max-sm:grid max-sm:grid-cols-2">
              <Button tone={risk === "high" ? "plain" : "primary"} disabled={busy} onClick={approve} hotkey={active && risk !== "high" ? key("approve") : undefined} className="max-sm:order-2 max-sm:!h-12">{limit ? t("approval.continue") : risk === "high" ? t("approval.approve.more") : t("approval.approve")}</Button>
              {!once && <Button disabled={busy} onClick={() => setMode("session")} className="max-sm:hidden">{t("approval.session")}</Button>}
              {!once && <Button disabled={busy} onClick={() => setMode("always")} hotkey={active ? key("always") : undefined} className="max-sm:order-4 max-sm:!h-12">{t("approval.always")}</Button>}
              <div className="max-sm:contents sm:ms-auto sm:flex sm:gap-2">
              <Button tone="danger" disabled={busy} onClick={deny} hotkey={active ? key("deny") : undefined} className="max-sm:order-1 max-sm:!h-12">{t("approval.deny")}</Button>
              <Button disabled={busy} onClick={() => setMode("deny")} hotkey={active ? key("say") : undefined} className="max-sm:order-3 max-sm:!h-12">{t("approval.denyWhy")}</Button>
              </div>
            </div>
          )}
        </footer>
      </div>
    </Swipe>
  );
}

function Expires({ at }: { readonly at: string }): ReactNode {
  const left = useTick((now) => shortAge(Date.parse(at) - now));
  return <Chip tone="warn">{t("approval.expires", { in: left })}</Chip>;
}

/** As many options have a key, and a button. */
const most = 8;

interface Option {
  readonly label: string;
  readonly description?: string;
}

/** A question by its words, the answers it offers, and the rest. */
function questionOf(asked: Asked): { readonly words: string; readonly options: readonly Option[]; readonly rest: Readonly<Record<string, unknown>> } {
  const { question, options, ...rest } = (asked.input ?? {}) as { readonly question?: unknown; readonly options?: unknown };
  const offers = Array.isArray(options) && options.every((o: Partial<Option> | null) => typeof o?.label === "string");
  return {
    words: typeof question === "string" ? question : (asked.description ?? ""),
    options: offers ? (options as readonly Option[]).slice(0, most) : [],
    rest: { ...rest, ...(typeof question !== "string" && question !== undefined && { question }), ...(options !== undefined && !(offers && options.length <= most) && { options }) },
  };
}

function Question({ asked }: { readonly asked: Asked }): ReactNode {
  const { words, rest } = questionOf(asked);
  return (
    <>
      <p className="text-base whitespace-pre-wrap">{plain(words)}</p>
      <Fields of={Object.entries(rest)} />
    </>
  );
}

/** One line of words before an answer goes out. */
function Say({ label, send, busy, onCancel, onSend }: { readonly label: string; readonly send: string; readonly busy: boolean; readonly onCancel: () => void; readonly onSend: (text: string) => void }): ReactNode {
  const [text, setText] = useState("");
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => box.current?.focus(), []);
  return (
    <form className="flex flex-wrap items-center gap-2" onSubmit={(e) => (e.preventDefault(), onSend(text))}>
      <input ref={box} aria-label={label} placeholder={label} value={text} maxLength={4000} onChange={(e) => setText(e.target.value)} onKeyDown={(e) => e.key === "Escape" && onCancel()} className={inputClass + " min-w-40 flex-1"} />
      <Button onClick={onCancel}>{t("cancel")}</Button>
      <Button tone="danger" type="submit" disabled={busy}>{send}</Button>
    </form>
  );
}

/** Answers a question of the agent: one of its options, or in other words. */
function Reply({ asked, busy, active, onSend }: { readonly asked: Asked; readonly busy: boolean; readonly active: boolean; readonly onSend: (a: Answer) => void }): ReactNode {
  const [text, setText] = useState("");
  const { options } = questionOf(asked);
  useKeys(Object.fromEntries(options.map((o, i) => [String(i + 1), () => onSend({ decision: "allow", reason: o.label })])), active, "card");
  return (
    <div className="space-y-2">
      {options.length > 0 && (
        <div className="flex flex-wrap gap-2">
          {options.map((o, i) => <Button key={o.label} disabled={busy} title={o.description} onClick={() => onSend({ decision: "allow", reason: o.label })} hotkey={active ? String(i + 1) : undefined}>{plain(o.label)}</Button>)}
        </div>
      )}
      <form className="flex flex-wrap items-center gap-2" onSubmit={(e) => (e.preventDefault(), onSend(text.trim() === "" ? { decision: "allow" } : { decision: "allow", reason: text }))}>
        <input aria-label={t("approval.answer")} placeholder={t("approval.answer")} value={text} maxLength={16000} onChange={(e) => setText(e.target.value)} className={inputClass + " min-w-40 flex-1"} />
        <Button tone="primary" type="submit" disabled={busy}>{t("approval.reply")}</Button>
        <Button disabled={busy} onClick={() => onSend({ decision: "deny" })}><I.Close size={13} />{t("approval.decline")}</Button>
      </form>
    </div>
  );
}
