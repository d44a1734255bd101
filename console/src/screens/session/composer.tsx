import { type ReactNode, useEffect, useRef, useState } from "react";

import { api, messageOf } from "../../data/api";
import { useKeys } from "../../data/keys";
import { drafts } from "../../data/drafts";
import { useLatest } from "../../data/latest";
import { toast } from "../../data/toasts";
import { t } from "../../i18n";
import { later, Spare } from "../../shell/later";
import { Button } from "../../ui/controls";
import * as I from "../../ui/icons";
import { useClient, useConnection, useLive, useStatus } from "./live";

const How = later(() => import("./how"));

const modes = { normal: "default", accept_edits: "acceptEdits", full_auto: "fullAuto" } as const;

/**
 * Says something to the session. Idle: it begins a turn. Running: Enter is for
 * the turn that runs, Shift-Enter waits until it has ended. Stop is elsewhere.
 */
export function Composer(): ReactNode {
  const { id, detail, shown } = useLive();
  const client = useClient();
  const status = useStatus();
  const { phase } = useConnection();
  const [text, setText] = useState(drafts.get(id) ?? "");
  const [sending, setSending] = useState(0);
  const box = useRef<HTMLTextAreaElement>(null);
  const running = status === "running" || status === "awaiting_approval" || status === "queued" || status === "recovering";
  const steers = detail?.lacks?.commands?.includes("steer") !== true;
  useKeys({ write: () => box.current?.focus() });
  useEffect(() => void drafts.set(id, text), [id, text]);
  useEffect(() => {
    const b = box.current;
    if (b === null) return;
    b.style.height = "0";
    b.style.height = `${Math.min(200, b.scrollHeight)}px`;
  }, [text]);
  const queued = detail?.queued_prompts ?? 0;
  const { value: queue = [] } = useLatest(id, queued === 0 ? 0 : detail!.seq, async (stop) => (queued === 0 ? [] : (await api.state(id, "now", 0, stop)).queue.map((q) => q.parts.map((p) => p.text ?? p.path ?? "").join(" "))));

  const send = (how: "say" | "steer" | "queue") => {
    const prompt = text.trim();
    if (prompt === "") return;
    setText("");
    setSending((n) => n + 1);
    const sent = how === "steer" ? client.send({ type: "steer", message: prompt }) : client.send({ type: "resume", sessionId: id, prompt });
    sent.then(
      () => how !== "say" && toast(how === "steer" ? t("composer.steered") : t("composer.queued"), "ok"),
      (e: unknown) => (setText((now) => (now === "" ? prompt : now)), toast(messageOf(e), "bad")),
    ).finally(() => setSending((n) => n - 1));
  };
  const mode = detail?.config.permission_mode ?? "normal";
  return (
    <div className="mx-auto w-full max-w-3xl px-3 pb-3 sm:px-6">
      {queued > 0 && queue.length > 0 && (
        <ul aria-label={t("composer.waiting")} className="mb-2 flex flex-wrap gap-1.5">
          {queue.map((q, i) => <li key={i} className="flex max-w-full items-center gap-1.5 rounded-lg border border-line bg-panel px-2.5 py-1 text-xs text-quiet"><I.Queue size={12} /><span className="truncate">{q}</span></li>)}
        </ul>
      )}
      <div className="rounded-xl border border-edge bg-panel focus-within:border-mark">
        <textarea
          ref={box}
          aria-label={running && steers ? t("composer.steer.label") : t("composer.label")}
          rows={1}
          value={text}
          placeholder={!running ? t("composer.placeholder") : steers ? t("composer.steer.placeholder") : t("composer.queue.placeholder")}
          onChange={(e) => setText(e.target.value)}
          onKeyDown={(e) => {
            if (e.key === "Escape") return void box.current?.blur();
            if (e.key !== "Enter" || e.nativeEvent.isComposing) return;
            if (e.altKey) {
              e.preventDefault();
              const b = e.currentTarget, at = b.selectionStart;
              setText(text.slice(0, at) + "\n" + text.slice(b.selectionEnd));
              return;
            }
            if (e.shiftKey && !running) return;
            e.preventDefault();
            send(!running ? "say" : e.shiftKey || !steers ? "queue" : "steer");
          }}
          className="block max-h-50 w-full resize-none bg-transparent px-4 pt-3 pb-1 text-base leading-6 outline-none placeholder:text-faint"
        />
        <div className="flex items-center gap-2 px-2 pb-2">
          <label className={`flex items-center ${detail === undefined ? "invisible" : ""}`} aria-busy={detail === undefined} hidden={detail?.lacks?.settings?.includes("permission_mode") === true}>
            <span className="sr-only">{t("mode.title")}</span>
            <select
              value={mode}
              onChange={(e) => client.send({ type: "configure", config: { permissionMode: modes[e.target.value as keyof typeof modes] } }).then(() => toast(t("mode.changed"), "ok"), (x: unknown) => toast(messageOf(x), "bad"))}
              className={`h-7 rounded-md bg-transparent px-1.5 text-xs hover:bg-sunken ${mode === "full_auto" ? "font-medium text-warn" : "text-quiet"}`}
            >
              <option value="normal">{t("mode.normal")}</option>
              <option value="accept_edits">{t("mode.accept_edits")}</option>
              <option value="full_auto">{t("mode.full_auto")}</option>
            </select>
          </label>
          <Spare>{shown && <How />}</Spare>
          <span className="min-w-0 flex-1 truncate text-end text-2xs text-faint">{sending > 0 && phase !== "open" ? t("composer.held") : ""}</span>
          {running ? (
            <>
              <Button size="sm" tone={steers ? "plain" : "primary"} disabled={text.trim() === ""} onClick={() => send("queue")} hotkey={steers ? "⇧ Enter" : "Enter"}><I.Queue size={12} />{t("composer.queue")}</Button>
              {steers && <Button size="sm" tone="primary" disabled={text.trim() === ""} onClick={() => send("steer")} hotkey="Enter"><I.Steer size={12} />{t("composer.steer")}</Button>}
            </>
          ) : (
            <Button size="sm" tone="primary" disabled={text.trim() === ""} onClick={() => send("say")} hotkey="Enter"><I.Send size={12} />{t("composer.send")}</Button>
          )}
        </div>
      </div>
    </div>
  );
}
