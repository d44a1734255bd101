import { AssistantRuntimeProvider, ComposerPrimitive, MessagePrimitive, ThreadPrimitive, type ToolCallMessagePartProps } from "@assistant-ui/react";
import { HarnessClient, type ToolArtifact } from "harness-client";
import { useHarnessRuntime } from "harness-client/assistant-ui";
import { HarnessProvider, useHarness, useHistory } from "harness-client/react";
import { type ReactNode, useEffect, useState } from "react";
import { Link } from "wouter";

import { ToolIcon } from "../../approval/tool-icon";
import { What } from "../../approval/what";
import { titleOf } from "../../data/notices";
import { useRow } from "../../data/lobby";
import { isGrave, subjectOf } from "../../data/risk";
import { toast } from "../../data/toasts";
import { t } from "../../i18n/more";
import { Output } from "../../ui/ansi";
import { Button } from "../../ui/controls";
import * as I from "../../ui/icons";
import { Markdown } from "../../ui/markdown";
import { Chip, StatusBadge } from "../../ui/status";

/** The same session in assistant-ui's components: what the published integration does, on a windowed feed. */
export default function ChatScreen({ id }: { readonly id: string }): ReactNode {
  const [client, setClient] = useState<HarnessClient>();
  useEffect(() => {
    const made = new HarnessClient({ sessionId: id, window: 64, onError: (e) => toast(e.message, "bad") });
    setClient(made);
    return () => made.close();
  }, [id]);
  return client === undefined ? null : <HarnessProvider client={client}><Shown id={id} client={client} /></HarnessProvider>;
}

function Shown({ id, client }: { readonly id: string; readonly client: HarnessClient }): ReactNode {
  const runtime = useHarnessRuntime(client, { onError: (e) => toast(e.message, "bad") });
  const row = useRow(id);
  const running = useHarness((s) => s.status === "running" || s.status === "awaiting-approval") === true;
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <header className="flex items-center gap-3 border-b border-line bg-panel px-4 py-2.5 sm:px-6">
        <Link href={`/s/${encodeURIComponent(id)}`} aria-label={t("aui.back")} className="grid size-8 place-items-center rounded-lg text-quiet hover:bg-sunken"><I.Back /></Link>
        <h1 data-user className="min-w-0 truncate text-lg font-semibold tracking-tight">{titleOf(row ?? { session_id: id })}</h1>
        {row !== undefined && <StatusBadge status={row.status} />}
        <span className="flex-1" />
        <span className="shrink-0 max-sm:hidden"><Chip tone="mark">{t("aui.title")}</Chip></span>
      </header>
      <ThreadPrimitive.Root className="flex min-h-0 flex-1 flex-col">
        <ThreadPrimitive.Viewport autoScroll tabIndex={0} aria-label={t("chat.title")} role="log" className="min-h-0 flex-1 overflow-y-auto">
          <div className="mx-auto max-w-3xl space-y-4 px-3 py-4 sm:px-6">
            <History />
            <ThreadPrimitive.Messages components={{ UserMessage, AssistantMessage }} />
          </div>
        </ThreadPrimitive.Viewport>
        <div className="mx-auto w-full max-w-3xl px-3 pb-3 sm:px-6">
          <ComposerPrimitive.Root className="flex items-end gap-2 rounded-xl border border-edge bg-panel p-2 focus-within:border-mark">
            <ComposerPrimitive.Input aria-label={t("composer.label")} placeholder={running ? t("composer.steer.placeholder") : t("composer.placeholder")} className="max-h-40 flex-1 resize-none bg-transparent px-2 py-1 text-base outline-none placeholder:text-faint" />
            {running && <ComposerPrimitive.Cancel asChild><Button size="sm" tone="danger"><I.Stop size={11} />{t("session.stop")}</Button></ComposerPrimitive.Cancel>}
            <ComposerPrimitive.Send asChild><Button size="sm" tone="primary"><I.Send size={12} />{running ? t("composer.steer") : t("composer.send")}</Button></ComposerPrimitive.Send>
          </ComposerPrimitive.Root>
        </div>
      </ThreadPrimitive.Root>
    </AssistantRuntimeProvider>
  );
}

function History(): ReactNode {
  const older = useHistory(50);
  return (
    <>
      {older.more && <div className="text-center"><Button size="sm" tone="quiet" disabled={older.loading} onClick={() => void older.load()}>{t("aui.earlier")}</Button></div>}
      {older.messages.map((m) => <article key={m.id} className={m.role === "user" ? "ms-auto w-fit max-w-[85%] rounded-2xl bg-mark-soft px-4 py-2.5" : ""}><Markdown text={m.content} /></article>)}
    </>
  );
}

const Said = (p: { readonly text: string }) => <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{p.text}</p>;
const Text = (p: { readonly text: string }) => <Markdown text={p.text} live />;
const Reasoning = (p: { readonly text: string }) => <details className="text-sm text-quiet"><summary>{t("chat.thought")}</summary><p className="mt-1 border-s-2 border-line ps-3 whitespace-pre-wrap">{p.text}</p></details>;

function UserMessage(): ReactNode {
  return <MessagePrimitive.Root className="ms-auto w-fit max-w-[85%] rounded-2xl rounded-ee-md bg-mark-soft px-4 py-2.5"><MessagePrimitive.Parts components={{ Text: Said }} /></MessagePrimitive.Root>;
}

function AssistantMessage(): ReactNode {
  return <MessagePrimitive.Root className="space-y-2.5"><MessagePrimitive.Parts components={{ Text, Reasoning, tools: { Fallback: Tool } }} /></MessagePrimitive.Root>;
}

const answers: Readonly<Record<string, "aui.once" | "aui.session" | "aui.always" | "aui.reject">> = { once: "aui.once", session: "aui.session", always: "aui.always", reject: "aui.reject" };
const words: Readonly<Record<string, "tool.running" | "tool.waits" | "tool.ok" | "tool.denied" | "tool.error">> = { running: "tool.running", "awaiting-approval": "tool.waits", complete: "tool.ok", denied: "tool.denied", error: "tool.error" };

function Tool(p: ToolCallMessagePartProps): ReactNode {
  const { status, output } = p.artifact as ToolArtifact;
  const asks = p.approval !== undefined && p.approval.approved === undefined;
  const once = isGrave(p.args); // what cannot be taken back is decided one by one
  return (
    <section aria-label={p.toolName} className={`overflow-hidden rounded-xl border bg-panel ${asks ? "border-warn" : "border-line"}`}>
      <header className="flex items-center gap-2 px-3 py-2"><span className="text-faint"><ToolIcon tool={p.toolName} /></span><span className="font-mono text-xs font-semibold">{p.toolName}</span><span className="min-w-0 flex-1 truncate font-mono text-xs text-quiet">{subjectOf(p.toolName, p.args)}</span><Chip tone={status === "error" ? "bad" : asks ? "warn" : "quiet"}>{words[status] === undefined ? status : t(words[status]!)}</Chip></header>
      {asks && <div className="space-y-2 px-2.5 pb-2.5"><What input={p.args} /></div>}
      {output !== undefined && output !== "" && <div className="px-2.5 pb-2.5"><Output text={output} /></div>}
      {asks && <div className="flex flex-wrap gap-2 border-t border-line bg-ground px-3 py-2">{p.approval!.options?.filter((o) => !once || o.id === "once" || o.kind.startsWith("reject")).map((o) => <Button key={o.id} size="sm" onClick={() => void p.respondToApproval({ optionId: o.id })}>{answers[o.id] === undefined ? o.label : t(answers[o.id]!)}</Button>)}</div>}
    </section>
  );
}
