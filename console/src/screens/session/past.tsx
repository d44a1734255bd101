import { fromHttp } from "harness-client/http";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";

import { api, messageOf, type Snapshot } from "../../data/api";
import { useKeyNames } from "../../data/bindings";
import { useKeys } from "../../data/keys";
import { t } from "../../i18n/more";
import { Button, IconButton } from "../../ui/controls";
import * as I from "../../ui/icons";
import { Banner, Empty } from "../../ui/surface";
import { useLive } from "./live";
import { Message } from "./message";

/** The session as it was at an event. Looking never runs anything. */
export default function Past({ id, at, onBranch }: { readonly id: string; readonly at: number; readonly onBranch: (from: string) => void }): ReactNode {
  const { row, detail } = useLive();
  const [, go] = useLocation();
  const [read, setRead] = useState<{ readonly at: number; readonly state?: Snapshot; readonly error?: string }>();
  const busy = read?.at !== at, state = read?.state; // of before, while it is busy
  const key = useKeyNames();
  const last = row?.seq ?? detail?.seq;
  const end = last ?? at;
  const path = `/s/${encodeURIComponent(id)}`;
  useEffect(() => {
    if (last === undefined) return;
    if (at > last || at < 1) return go(`${path}/at/${Math.max(1, Math.min(last, at))}`, { replace: true }); // an event that is not there
    const stop = new AbortController();
    api.state(id, at, 60, stop.signal).then((state) => setRead({ at, state }), (e: unknown) => stop.signal.aborted || setRead({ at, error: messageOf(e) }));
    return () => stop.abort();
  }, [id, at, last === undefined]);
  const step = (to: number) => go(`${path}/at/${Math.max(1, Math.min(end, to))}`, { replace: true });
  useKeys({ previousEvent: () => step(at - 1), nextEvent: () => step(at + 1), branch: () => onBranch(`${id}.${at}`) });
  const messages = useMemo(() => state?.messages.map(fromHttp) ?? [], [state]);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => void (box.current !== null && (box.current.scrollTop = box.current.scrollHeight)), [messages]);
  return (
    <>
      <Banner
        tone="info"
        actions={
          <>
            <Button size="sm" tone="primary" onClick={() => onBranch(`${id}.${at}`)} hotkey={key("branch")}><I.Branch size={12} />{t("past.branch")}</Button>
            <Button size="sm" onClick={() => go(path)}>{t("past.live")}</Button>
          </>
        }
      >
        <span data-testid="past">{t("past.text", { n: at, of: end })}</span>
      </Banner>
      <div className="flex items-center gap-2 border-b border-line bg-panel px-4 py-1.5">
        <IconButton label={t("past.back")} onClick={() => step(at - 1)} disabled={at <= 1}><I.Back size={14} /></IconButton>
        <input type="range" aria-label={t("past.event")} min={1} max={Math.max(1, end)} value={at} onChange={(e) => step(Number(e.target.value))} className="h-6 flex-1 accent-[var(--c-mark)]" />
        <IconButton label={t("past.on")} onClick={() => step(at + 1)} disabled={at >= end}><I.Right size={14} /></IconButton>
        <span className="num w-20 text-end text-xs text-quiet">{at} / {end}</span>
      </div>
      <div ref={box} className="min-h-0 flex-1 overflow-y-auto" tabIndex={0} role="log" aria-live="off" aria-busy={busy} aria-label={t("chat.title")}>
        {busy && <p className="sticky top-0 z-10 bg-ground px-3 py-2 text-sm text-faint sm:px-6">{t("loading")}</p>}
        {!busy && read.error !== undefined ? <Empty icon={<I.Warning size={20} />} title={read.error} /> : (
          <div data-state={busy ? undefined : at} className={`mx-auto max-w-3xl space-y-4 px-3 py-4 sm:px-6 ${busy ? "opacity-40" : ""}`}>
            {state !== undefined && messages.length === 0 && <Empty title={t("past.empty")} />}
            {state !== undefined && state.first_message > 0 && <p className="text-center text-xs text-faint">{t("past.earlier", { n: state.first_message })}</p>}
            {messages.map((m) => <Message key={m.id} message={m} />)}
          </div>
        )}
      </div>
    </>
  );
}
