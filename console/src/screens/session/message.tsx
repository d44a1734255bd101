import type { HarnessMessage, HarnessToolCall } from "harness-client";
import { memo, type ReactNode, useMemo, useState } from "react";

import { toolKind } from "../../data/risk";
import { t } from "../../i18n";
import { CopyButton } from "../../ui/copy";
import { IconButton } from "../../ui/controls";
import * as I from "../../ui/icons";
import { Markdown } from "../../ui/markdown";
import { Chip } from "../../ui/status";
import { ToolRow } from "./tool-row";

type Piece = { readonly text: string; readonly last: boolean } | { readonly calls: readonly HarnessToolCall[] };

/** Text and tools in the order in which they came. Calls that only look stand together. */
export function piecesOf(m: HarnessMessage): readonly Piece[] {
  const pieces: (Piece & { calls?: HarnessToolCall[] })[] = [];
  let from = 0;
  for (const call of m.toolCalls ?? []) {
    const at = Math.max(from, Math.min(call.at ?? m.content.length, m.content.length));
    if (m.content.slice(from, at).trim() !== "") pieces.push({ text: m.content.slice(from, at), last: false });
    from = at;
    const before = pieces.at(-1);
    const looks = toolKind(call.name) === "read" && call.status === "complete";
    if (looks && before !== undefined && "calls" in before && before.calls!.every((c) => toolKind(c.name) === "read" && c.status === "complete")) before.calls!.push(call);
    else pieces.push({ calls: [call] });
  }
  const rest = m.content.slice(from);
  if (rest.trim() !== "") pieces.push({ text: rest, last: true });
  return pieces;
}

export const Message = memo(function Message({ message: m, newest = false, onRewind, onBranch }: { readonly message: HarnessMessage; readonly newest?: boolean; readonly onRewind?: ((id: string) => void) | undefined; readonly onBranch?: ((from: string) => void) | undefined }): ReactNode {
  if (m.role === "user") return <Said message={m} onRewind={onRewind} />;
  return <Answer message={m} newest={newest} onBranch={onBranch} />;
});

function Said({ message: m, onRewind }: { readonly message: HarnessMessage; readonly onRewind?: ((id: string) => void) | undefined }): ReactNode {
  const [open, setOpen] = useState(false);
  const long = m.content.length > 1600 && !open;
  return (
    <article aria-label={t("chat.you")} data-message={m.id} className="group/said flex items-start justify-end gap-1 pt-1">
      <div className="flex pt-1 opacity-75 group-focus-within/said:opacity-100 group-hover/said:opacity-100">
        {onRewind !== undefined && <IconButton label={t("rewind.here")} className="!size-7 pointer-coarse:!size-10" onClick={() => onRewind(m.id)}><I.Rewind size={13} /></IconButton>}
        <span className="max-sm:hidden"><CopyButton text={m.content} bare /></span>
      </div>
      <div className="max-w-[85%] rounded-2xl rounded-ee-md bg-mark-soft px-4 py-2.5">
        <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{long ? m.content.slice(0, 1500) + "…" : m.content}</p>
        {long && <button type="button" onClick={() => setOpen(true)} className="mt-1 text-xs text-mark underline">{t("more")}</button>}
      </div>
    </article>
  );
}

function Answer({ message: m, newest, onBranch: _ }: { readonly message: HarnessMessage; readonly newest: boolean; readonly onBranch?: ((from: string) => void) | undefined }): ReactNode {
  const pieces = useMemo(() => piecesOf(m), [m]);
  const live = m.status === "streaming" || m.status === "pending";
  return (
    <article aria-label={t("chat.agent")} data-message={m.id} data-status={m.status} className="group/answer space-y-2.5">
      {m.reasoning !== undefined && m.reasoning !== "" && <Reasoning text={m.reasoning} live={live && m.content === ""} />}
      {pieces.map((p, i) => ("text" in p ? <Markdown key={i} text={p.text} live={live && p.last} /> : <ToolRow key={p.calls[0]!.id} calls={p.calls} />))}
      {live && newest && pieces.length === 0 && (m.reasoning ?? "") === "" && <Dots />}
      {m.status === "error" && <Chip tone="bad">{t("chat.broken")}</Chip>}
      {!live && m.content !== "" && <div className="-ms-1 h-7 opacity-0 group-focus-within/answer:opacity-100 group-hover/answer:opacity-100"><CopyButton text={m.content} /></div>}
    </article>
  );
}

function Dots(): ReactNode {
  return <p aria-label={t("doing.thinking")} className="flex h-6 items-center gap-1">{[0, 1, 2].map((i) => <span key={i} className="breathe size-1.5 rounded-full bg-faint" style={{ animationDelay: `${i * 0.2}s` }} />)}</p>;
}

/** What the model thought, as far as it was streamed; a quiet line until it is opened. */
function Reasoning({ text, live }: { readonly text: string; readonly live: boolean }): ReactNode {
  const [open, setOpen] = useState(false);
  return (
    <div className="text-sm text-quiet">
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)} className="flex max-w-full items-center gap-1.5 rounded-md hover:text-ink">
        <I.Thought size={13} className={live ? "breathe" : ""} />
        <span className="shrink-0">{t("chat.thought")}</span>
        {!open && <span className="truncate text-faint">{text.slice(-160)}</span>}
        {open ? <I.Up size={11} /> : <I.Down size={11} />}
      </button>
      {open && <p className="mt-1 max-h-80 overflow-y-auto border-s-2 border-line ps-3 whitespace-pre-wrap [overflow-wrap:anywhere]">{text}</p>}
    </div>
  );
}
