import { type ReactNode, useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";

import { type About, api, messageOf } from "../data/api";
import { t } from "../i18n/more";
import { Button, Choice, Field, inputClass } from "../ui/controls";
import { Dialog } from "../ui/surface";
import { closeSheet } from "./open";

/** Requests that show what the console can, also without a language model. */
const samples = [
  "write `# Notes` to notes.md then run ls -la",
  "plan: look, change, check then count to 200",
  "list the files then think about them",
  "ask me which colour it should be",
];

export default function NewSessionDialog(): ReactNode {
  const [, go] = useLocation();
  const [prompt, setPrompt] = useState("");
  const [title, setTitle] = useState("");
  const [directory, setDirectory] = useState("");
  const [mode, setMode] = useState<"normal" | "accept_edits" | "full_auto">("normal");
  const [about, setAbout] = useState<About>();
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const text = useRef<HTMLTextAreaElement>(null);
  useEffect(() => void api.about().then(setAbout, () => undefined), []);
  useEffect(() => text.current?.focus(), []);
  const close = closeSheet;
  const submit = async () => {
    setBusy(true);
    setError("");
    try {
      const name = title.trim() === "" ? prompt.trim().split("\n")[0]!.slice(0, 80) : title.trim();
      const made = await api.create({ title: name, permission_mode: mode, ...(directory.trim() !== "" && { directory: directory.trim() }) });
      if (prompt.trim() !== "") await api.turn(made.session_id, prompt);
      close();
      go(`/s/${encodeURIComponent(made.session_id)}`);
    } catch (e) {
      setError(messageOf(e));
      setBusy(false);
    }
  };
  const facts = about?.facts.map(([, v]) => v).join(" · ");
  return (
    <Dialog
      title={t("new.title")}
      open
      size="md"
      onClose={close}
      footer={
        <>
          <Button onClick={close}>{t("cancel")}</Button>
          <Button tone="primary" disabled={busy} onClick={() => void submit()} hotkey="Enter">{t("new.start")}</Button>
        </>
      }
    >
      <form onSubmit={(e) => (e.preventDefault(), void submit())} className="space-y-4">
        <Field label={t("new.prompt")}>
          <textarea
            ref={text}
            name="prompt"
            rows={4}
            value={prompt}
            onChange={(e) => setPrompt(e.target.value)}
            onKeyDown={(e) => {
              if (e.key !== "Enter" || e.shiftKey || e.altKey || e.nativeEvent.isComposing) return;
              e.preventDefault();
              void submit();
            }}
            placeholder={t("new.placeholder")}
            className="w-full resize-y rounded-lg border border-edge bg-panel px-3 py-2 text-base placeholder:text-faint"
          />
        </Field>
        <div>
          <span className="mb-1.5 block text-xs text-faint">{t("new.try")}</span>
          <div data-user className="flex flex-wrap gap-1.5">
            {samples.map((s) => (
              <button key={s} type="button" onClick={() => (setPrompt(s), text.current?.focus())} className="rounded-full border border-line bg-ground px-2.5 py-0.5 text-start text-xs text-quiet hover:border-edge hover:text-ink">{s}</button>
            ))}
          </div>
        </div>
        <div>
          <span className="mb-1 block text-xs font-medium text-quiet">{t("mode.title")}</span>
          <Choice
            label={t("mode.title")}
            value={mode}
            onChange={setMode}
            options={[
              { value: "normal", label: t("mode.normal") },
              { value: "accept_edits", label: t("mode.accept_edits") },
              { value: "full_auto", label: t("mode.full_auto") },
            ]}
          />
          <p className="mt-1 text-xs text-faint">{mode === "normal" ? t("mode.normal.what") : mode === "accept_edits" ? t("mode.accept_edits.what") : t("mode.full_auto.what")}</p>
        </div>
        <Field label={t("new.name")}><input className={inputClass} value={title} maxLength={200} placeholder={t("new.name.auto")} onChange={(e) => setTitle(e.target.value)} /></Field>
        <Field label={t("new.directory")} hint={about === undefined ? " " : <span data-user className="[overflow-wrap:anywhere]">{t("new.directory.usual", { dir: about.directory })}</span>}><input className={inputClass + " font-mono"} value={directory} onChange={(e) => setDirectory(e.target.value)} /></Field>
        <p data-user className="min-h-9 text-xs text-faint">{about === undefined ? "" : t("new.with", { engine: about.engine, facts: facts ?? "" })}</p>
        {error !== "" && <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad">{error}</p>}
      </form>
    </Dialog>
  );
}
