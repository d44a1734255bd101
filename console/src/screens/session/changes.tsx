import { type ReactNode, useEffect, useMemo, useState } from "react";
import { useSearch, useLocation } from "wouter";

import { api, type LogEvent, messageOf } from "../../data/api";
import { countOf, type DiffLine, type Edit, editsOf, linesOf } from "../../data/edits";
import type { Fields } from "../../data/kinds";
import { plain } from "../../data/plain";
import { setPrefs, usePref } from "../../data/prefs";
import { toast } from "../../data/toasts";
import { t } from "../../i18n/more";
import { Coming } from "../../shell/later";
import { Button, Choice, inputClass } from "../../ui/controls";
import { Counts, EditView } from "../../ui/diff";
import * as I from "../../ui/icons";
import { Chip } from "../../ui/status";
import { Empty } from "../../ui/surface";
import { Ago } from "../../ui/time";
import { useWide } from "../../ui/wide";
import { useClient, useLive, useStatus } from "./live";

interface Made {
  readonly edit: Edit;
  readonly call: LogEvent;
  readonly nth: number; // of its call
  readonly outcome: string;
  readonly by: string | undefined;
}

interface Prompt { readonly seq: number; readonly message: string; readonly text: string }

interface Comment { readonly path: string; readonly line: number; readonly code: string; readonly text: string }

/** The changes of files that calls made, by file; comments on lines go to the agent together. */
export default function Changes({ id, onRewind }: { readonly id: string; readonly onRewind: (message: string) => void }): ReactNode {
  const { row, detail } = useLive();
  const [read, setRead] = useState<{ readonly made: readonly Made[]; readonly prompts: readonly Prompt[] }>();
  const made = read?.made;
  const [error, setError] = useState("");
  const [, go] = useLocation();
  const search = new URLSearchParams(useSearch());
  const since = search.get("since") ?? "", file = search.get("file") ?? "";
  const split = usePref("split"), blanks = usePref("blanks"), wide = useWide();
  const change = (name: string, value: string) => {
    const next = new URLSearchParams(location.search);
    if (value === "") next.delete(name);
    else next.set(name, value);
    go(`/s/${encodeURIComponent(id)}/changes${next.size > 0 ? `?${next}` : ""}`, { replace: true });
  };
  const setFile = (f: string) => change("file", f);
  const [comments, setComments] = useState<readonly Comment[]>([]);
  const [on, setOn] = useState<{ readonly path: string; readonly line: DiffLine }>();
  const client = useClient();
  const status = useStatus();
  const seq = row?.seq ?? 0;
  useEffect(() => {
    let here = true;
    const timer = setTimeout(() => {
      changesOf(id).then((m) => here && (setRead(m), setError("")), (e: unknown) => here && setError(messageOf(e)));
    }, made === undefined ? 0 : 1000);
    return () => ((here = false), clearTimeout(timer));
  }, [id, seq]);
  const shown = useMemo(() => {
    const from = since === "last" ? (read?.prompts.at(-1)?.seq ?? 0) : Number(since);
    return (made ?? []).filter((m) => (m.outcome === "ok" || m.outcome === "artifact") && !(m.call.seq < from));
  }, [read, since]);
  const files = useMemo(() => {
    const all = new Map<string, { plus: number; minus: number; made: Made[] }>();
    for (const m of shown) {
      const f = all.get(m.edit.path) ?? { plus: 0, minus: 0, made: [] };
      const c = countOf(linesOf(m.edit, blanks));
      f.plus += c.plus;
      f.minus += c.minus;
      f.made.push(m);
      all.set(m.edit.path, f);
    }
    return all;
  }, [shown, blanks]);
  const total = [...files.values()].reduce((n, f) => ({ plus: n.plus + f.plus, minus: n.minus + f.minus }), { plus: 0, minus: 0 });
  const sendComments = () => {
    const message = comments.map((c) => `${c.path}:${c.line}\n> ${c.code}\n${c.text}`).join("\n\n");
    const running = status === "running" || status === "awaiting_approval";
    client.send(running ? { type: "steer", message } : { type: "resume", sessionId: id, prompt: message }).then(
      () => (setComments([]), toast(t("changes.sent"), "ok")),
      (e: unknown) => toast(messageOf(e), "bad"),
    );
  };
  const first = since === "last" ? read?.prompts.at(-1) : (read?.prompts.find((p) => p.seq >= Number(since)) ?? read?.prompts[0]);
  const visible = !files.has(file) ? [...files] : [[file, files.get(file)!] as const];
  if (read === undefined && error === "") return <Coming />;
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex flex-wrap items-center gap-3 border-b border-line bg-panel px-4 py-1.5">
        <select aria-label={t("changes.of")} value={since} onChange={(e) => change("since", e.target.value)} className="h-8 max-w-64 rounded-lg border border-edge bg-panel px-2 text-sm">
          <option value="">{t("changes.session")}</option>
          <option value="last">{t("changes.turn")}</option>
          {(read?.prompts.length ?? 0) > 1 && <optgroup label={t("changes.since")}>{read!.prompts.map((p) => <option key={p.seq} value={String(p.seq)} data-user>#{p.seq} {p.text}</option>)}</optgroup>}
        </select>
        <span className="text-sm text-quiet">{t("changes.files", { n: files.size })}</span>
        <Counts {...total} />
        {files.size > 0 && first !== undefined && <Button size="sm" onClick={() => onRewind(first.message)}><I.Rewind size={12} />{t("changes.rewind")}</Button>}
        <span className="flex-1" />
        {files.size > 0 && <label className="flex items-center gap-1.5 max-sm:hidden text-xs text-quiet"><input type="checkbox" checked={blanks} onChange={(e) => setPrefs({ blanks: e.target.checked })} className="accent-[var(--c-mark)]" />{t("changes.blanks")}</label>}
        {wide && <Choice label={t("changes.form")} value={split ? "split" : "unified"} onChange={(v) => setPrefs({ split: v === "split" })} options={[{ value: "unified", label: t("changes.unified") }, { value: "split", label: t("changes.split") }]} />}
        {comments.length > 0 && <Button size="sm" tone="primary" onClick={sendComments}><I.Steer size={12} />{t("changes.send", { n: comments.length })}</Button>}
      </div>
      {error !== "" && <p role="alert" className="bg-bad-soft px-4 py-1.5 text-sm text-bad">{error}</p>}
      {made !== undefined && files.size === 0 ? (
        <div className="flex-1 overflow-y-auto"><Empty icon={<I.Diff size={20} />} title={t("changes.none")}>{detail?.lacks?.events?.includes("tool_call") === true ? t("changes.none.bridge") : t("changes.none.text")}</Empty></div>
      ) : (
        <div className="flex min-h-0 flex-1">
          <nav aria-label={t("changes.list")} className="w-60 shrink-0 overflow-y-auto border-e border-line p-2 max-md:hidden">
            <FileLink name={t("changes.all")} here={!files.has(file)} onClick={() => setFile("")} counts={total} />
            {[...files].map(([path, f]) => <FileLink key={path} name={path} here={file === path} onClick={() => setFile(path)} counts={f} />)}
          </nav>
          <div className="min-w-0 flex-1 space-y-6 overflow-y-auto p-4" tabIndex={0} role="group" aria-label={t("tab.changes")}>
            {visible.map(([path, f]) => (
              <section key={path} aria-label={path} className="space-y-2">
                {f.made.map((m) => (
                  <div key={`${m.call.seq}.${m.nth}`} className="space-y-1">
                    <p className="flex flex-wrap items-center gap-x-2 text-xs text-faint">
                      <button type="button" data-user className="font-mono text-mark hover:underline" onClick={() => go(`/s/${encodeURIComponent(id)}/inspect?seq=${m.call.seq}`)}>{String((m.call.payload as Fields)["name"])} #{m.call.seq}</button>
                      <Ago at={m.call.ts} />
                      {m.by !== undefined && <Chip>{m.by}</Chip>}
                    </p>
                    <EditView edit={m.edit} limit={60} split={split && wide} blanks={blanks} onLine={(line) => setOn({ path, line })} />
                  </div>
                ))}
                {comments.filter((c) => c.path === path).map((c, i) => (
                  <p key={i} className="flex items-start gap-2 rounded-lg bg-mark-soft px-3 py-2 text-sm"><I.Chat size={13} className="mt-1 text-mark" /><span className="flex-1"><code className="font-mono text-xs text-quiet">:{c.line}</code> {c.text}</span><button type="button" aria-label={t("changes.uncomment")} onClick={() => setComments(comments.filter((x) => x !== c))}><I.Close size={12} /></button></p>
                ))}
                {on?.path === path && (
                  <form className="flex gap-2" onSubmit={(e) => {
                    e.preventDefault();
                    const text = String(new FormData(e.currentTarget).get("text")).trim();
                    if (text !== "") setComments([...comments, { path, line: on.line.to ?? on.line.from ?? 0, code: on.line.text.trim(), text }]);
                    setOn(undefined);
                  }}>
                    <input name="text" autoFocus aria-label={t("changes.comment")} placeholder={t("changes.comment.on", { line: on.line.to ?? on.line.from ?? 0 })} className={inputClass} />
                    <Button type="submit" tone="primary">{t("changes.add")}</Button>
                    <Button onClick={() => setOn(undefined)}>{t("cancel")}</Button>
                  </form>
                )}
              </section>
            ))}
          </div>
        </div>
      )}
    </div>
  );
}

function FileLink({ name, here, counts, onClick }: { readonly name: string; readonly here: boolean; readonly counts: { readonly plus: number; readonly minus: number }; readonly onClick: () => void }): ReactNode {
  return (
    <button type="button" aria-current={here} onClick={onClick} title={name} className={`flex w-full items-center justify-between gap-2 rounded-lg px-2 py-1 text-start ${here ? "bg-mark-soft" : "hover:bg-sunken"}`}>
      <span className="min-w-0 truncate text-xs [direction:rtl]"><bdi>{name}</bdi></span>
      <Counts plus={counts.plus} minus={counts.minus} />
    </button>
  );
}

/** Reads the calls that change files, and what became of them. */
async function changesOf(id: string): Promise<{ readonly made: readonly Made[]; readonly prompts: readonly Prompt[] }> {
  const events: LogEvent[] = [];
  for (let after = 0; ; ) {
    const page = await api.events(id, { after, limit: 1000, types: "user_message,tool_call,tool_outcome,approval_applied" });
    events.push(...page.events);
    if (page.next_cursor === undefined || Number(page.next_cursor) <= after || events.length > 20_000) break;
    after = Number(page.next_cursor);
  }
  const outcomes = new Map<string, string>(), deciders = new Map<string, string>();
  for (const e of events) {
    const p = e.payload as Fields;
    if (e.type === "tool_outcome") outcomes.set(String(p["tool_call_id"]), String(p["status"]));
    if (e.type === "approval_applied") deciders.set(String(p["tool_call_id"]), p["source"] === "user" ? String(p["actor"] ?? "") : String(p["source"]));
  }
  const prompts = events.flatMap((e): Prompt[] => (e.type !== "user_message" ? [] : [{ seq: e.seq, message: String((e.payload as Fields)["item_id"]), text: textOf(e) }]));
  const made = events.flatMap((call): Made[] => {
    if (call.type !== "tool_call") return [];
    const p = call.payload as Fields, key = String(p["tool_call_id"]);
    return editsOf(String(p["name"]), p["arguments"]).map((edit, nth) => ({ edit, call, nth, outcome: outcomes.get(key) ?? "", by: deciders.get(key) }));
  });
  return { made, prompts };
}

function textOf(e: LogEvent): string {
  const parts = (e.payload as { readonly parts?: readonly { readonly text?: string }[] }).parts ?? [];
  return plain(parts.map((p) => p.text ?? "").join(" ").split("\n")[0]!.slice(0, 60));
}
