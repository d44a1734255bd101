import { type ReactNode, useEffect, useMemo } from "react";
import { Link } from "wouter";

import { api, type Detail, type LogEvent } from "../../data/api";
import { numbered } from "../../data/plain";
import { t } from "../../i18n/more";
import * as I from "../../ui/icons";
import { useHarness, useLive } from "./live";

/** Something that is no message and stands between them. */
export interface Note {
  readonly seq: number;
  readonly kind: "checkpoint" | "compaction";
  readonly text: string;
}

/** Notes by the message that they stand before; those at the end have none. */
export type Notes = ReadonlyMap<string, readonly Note[]>;

/** The prompts that are looked at together to find where notes belong, and how often. */
const prompts = 200;
const looks = 100;

/** Tells which notes stand where. It asks only if there are any, and again when somebody has spoken. */
export default function NotesReader({ onNotes }: { readonly onNotes: (notes: Notes) => void }): ReactNode {
  const { id, detail } = useLive();
  const count = useHarness((s) => (s.firstMessage ?? 0) + s.messages.length) ?? 0;
  const notes = useMemo(() => (detail === undefined ? [] : notesOf(detail)), [detail]);
  const which = notes.map((n) => n.seq).join();
  useEffect(() => {
    if (notes.length === 0) return;
    const stop = new AbortController();
    place(notes, (after) => api.events(id, { types: "user_message", after, limit: prompts }, stop.signal)).then(onNotes, () => undefined); // without them the conversation is whole
    return () => stop.abort();
  }, [id, which, count]);
  return null;
}

function notesOf(d: Detail): readonly Note[] {
  return [
    ...d.checkpoints.map((c): Note => ({ seq: c.seq, kind: "checkpoint", text: c.summary_text === "" ? c.checkpoint_type : numbered(c.summary_text) })),
    ...d.resume_points.flatMap((p): Note[] => (p.kind === "compact" ? [{ seq: p.seq, kind: "compaction", text: p.label }] : [])),
  ].sort((a, b) => a.seq - b.seq);
}

/** A page of prompts, in their order. */
interface Said {
  readonly events: readonly LogEvent[];
  readonly next_cursor?: string;
}

/** Finds the prompt after each note, which are in their order; what nobody has said anything since is at the end. */
export async function place(notes: readonly Note[], read: (after: number) => Promise<Said>): Promise<Notes> {
  const said: LogEvent[] = [];
  for (let after = 0, n = 0; n < looks; n++) {
    const next = notes.find((x) => x.seq >= (said.at(-1)?.seq ?? 0)); // that has none yet
    if (next === undefined) break;
    const page = await read(Math.max(after, next.seq));
    said.push(...page.events);
    if (page.next_cursor === undefined) return placed(notes, said, true);
    after = Number(page.next_cursor);
  }
  return placed(notes, said, false);
}

function placed(notes: readonly Note[], said: readonly LogEvent[], all: boolean): Notes {
  const by = new Map<string, Note[]>();
  for (const n of notes) {
    const next = said.find((e) => e.seq > n.seq);
    if (next === undefined && !all) continue;
    const before = next === undefined ? "" : String((next.payload as { readonly item_id?: string }).item_id);
    by.set(before, [...(by.get(before) ?? []), n]);
  }
  return by;
}

/** Lines between messages, with ways to go on from there. */
export function Dividers({ notes, onBranch }: { readonly notes: readonly Note[]; readonly onBranch: (from: string) => void }): ReactNode {
  const { id } = useLive();
  return notes.map((n) => (
    <div key={n.seq} data-note={n.kind} className="flex items-center gap-2 py-2 text-xs text-faint">
      <span aria-hidden="true" className="h-px min-w-4 flex-1 bg-line" />
      <I.Flag size={12} />
      <span className="min-w-0 truncate" title={n.text}>{t(n.kind === "checkpoint" ? "chat.checkpoint" : "chat.compacted", { n: n.seq, text: n.text })}</span>
      <Link href={`/s/${encodeURIComponent(id)}/at/${n.seq}`} className="whitespace-nowrap text-mark hover:underline">{t("timeline.travel")}</Link>
      <button type="button" onClick={() => onBranch(`${id}.${n.seq}`)} className="text-mark hover:underline">{t("branch.short")}</button>
      <span aria-hidden="true" className="h-px min-w-4 flex-1 bg-line" />
    </div>
  ));
}
