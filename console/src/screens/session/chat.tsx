import type { HarnessMessage } from "harness-client";
import { useHistory } from "harness-client/react";
import { type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";

import { useKeys } from "../../data/keys";
import { t } from "../../i18n";
import { Coming, later, Spare } from "../../shell/later";
import { Button } from "../../ui/controls";
import * as I from "../../ui/icons";
import { useMeasured } from "../../ui/measured";
import { Empty } from "../../ui/surface";
import { useHarness, useLive, useStatus } from "./live";
import { Message } from "./message";
import type { Notes } from "./notes";

const NotesReader = later(() => import("./notes"));
const Dividers = later(async () => ({ default: (await import("./notes")).Dividers }));

/** The ids of messages; the same list as long as they are the same. */
function useKeysOf(messages: readonly HarnessMessage[]): readonly string[] {
  const last = useRef<readonly string[]>([]);
  if (messages.length !== last.current.length || messages.some((m, i) => m.id !== last.current[i])) last.current = messages.map((m) => m.id);
  return last.current;
}

const none: readonly HarnessMessage[] = [];

/**
 * The conversation. Only what is near the screen is made; the newest message,
 * which grows, is not measured at all. It follows the end while somebody is
 * there, and lets go of it at the first scroll up.
 */
export function Chat(props: { readonly onRewind: (message: string) => void; readonly onBranch: (from: string) => void }): ReactNode {
  const known = useHarness(() => true) === true; // what the server has came
  return known ? <Thread {...props} /> : <Coming />;
}

function Thread({ onRewind, onBranch }: { readonly onRewind: (message: string) => void; readonly onBranch: (from: string) => void }): ReactNode {
  const live = useHarness((s) => s.messages) ?? none;
  const history = useHistory(50);
  const messages = useMemo(() => (history.messages.length === 0 ? live : [...history.messages, ...live]), [history.messages, live]);
  const waiting = useHarness((s) => s.pendingApprovals?.length ?? 0) ?? 0;
  const scroller = useRef<HTMLDivElement>(null);
  const [follows, setFollows] = useState(true);
  const count = useHarness((s) => (s.firstMessage ?? 0) + s.messages.length) ?? 0;
  const [seen, setSeen] = useState(0);
  const settled = messages.length > 0 ? messages.slice(0, -1) : none;
  const newest = messages.at(-1);
  const status = useStatus();

  const { shown } = useLive();
  const [notes, setNotes] = useState<Notes>();
  const before = (id: string) => notes?.has(id) && <Spare><Dividers notes={notes.get(id)!} onBranch={onBranch} /></Spare>;
  const keys = useKeysOf(settled);
  const virtual = useMeasured(scroller, keys, 120);

  // What comes in above must not move what is read.
  const bottom = useRef<number>(undefined);
  const older = () => {
    const el = scroller.current;
    if (el === null || history.loading || !history.more) return;
    bottom.current = el.scrollHeight - el.scrollTop;
    void history.load();
  };
  useLayoutEffect(() => {
    const el = scroller.current;
    if (el === null || bottom.current === undefined) return;
    el.scrollTop = el.scrollHeight - bottom.current;
    bottom.current = undefined;
  }, [history.messages]);

  useLayoutEffect(() => {
    const el = scroller.current;
    if (el !== null && follows) el.scrollTop = el.scrollHeight;
  });
  useEffect(() => {
    if (follows) setSeen(count);
  }, [follows, count]);
  useEffect(() => {
    const el = scroller.current;
    if (el === null) return;
    const away = () => setFollows(false);
    const wheel = (e: WheelEvent) => e.deltaY < 0 && el.scrollHeight > el.clientHeight && away();
    const keys = (e: KeyboardEvent) => (e.key === "PageUp" || e.key === "Home" || e.key === "ArrowUp") && away();
    let touch = 0;
    const begin = (e: TouchEvent) => (touch = e.touches[0]?.clientY ?? 0);
    const drag = (e: TouchEvent) => (e.touches[0]?.clientY ?? 0) > touch + 4 && away();
    const scroll = () => {
      if (el.scrollHeight - el.scrollTop - el.clientHeight < 24) setFollows(true);
      if (el.scrollTop < 600) older();
    };
    el.addEventListener("wheel", wheel, { passive: true });
    el.addEventListener("keydown", keys);
    el.addEventListener("touchstart", begin, { passive: true });
    el.addEventListener("touchmove", drag, { passive: true });
    el.addEventListener("scroll", scroll, { passive: true });
    const sizes = new ResizeObserver(() => setFollows((f) => (f && (el.scrollTop = el.scrollHeight), f)));
    sizes.observe(el);
    return () => {
      sizes.disconnect();
      el.removeEventListener("wheel", wheel);
      el.removeEventListener("keydown", keys);
      el.removeEventListener("touchstart", begin);
      el.removeEventListener("touchmove", drag);
      el.removeEventListener("scroll", scroll);
    };
  });

  const turn = (n: 1 | -1) => {
    const el = scroller.current;
    if (el === null) return;
    const users = settled.flatMap((m, i) => (m.role === "user" ? [i] : []));
    const first = virtual.items.find((v) => virtual.startOf(v.index + 1) > el.scrollTop + 24)?.index ?? 0;
    const target = n > 0 ? users.find((i) => i > first) : users.filter((i) => i < first).at(-1);
    setFollows(false);
    if (target !== undefined) el.scrollTop = virtual.startOf(target);
    else if (n > 0) setFollows(true);
  };
  useKeys({ previousTurn: () => turn(-1), nextTurn: () => turn(1), End: () => setFollows(true), end: () => setFollows(true) });

  const fresh = Math.max(0, count - seen);
  if (messages.length === 0 && status === "idle") {
    return <div className="flex-1 overflow-y-auto"><Empty icon={<I.Chat size={20} />} title={t("chat.empty")}>{t("chat.empty.text")}</Empty></div>;
  }
  return (
    <div className="relative min-h-0 flex-1">
      <div ref={scroller} role="log" aria-live="off" aria-label={t("chat.title")} tabIndex={0} data-testid="thread" className="h-full overflow-y-auto overscroll-contain outline-offset-[-2px] [overflow-anchor:none]">
        <div className="mx-auto max-w-3xl px-3 pt-4 pb-4 sm:px-6">
          {history.more && <div className="flex h-8 items-center justify-center text-xs text-faint">{history.loading ? t("loading") : <Button size="sm" tone="quiet" onClick={older}>{t("chat.older")}</Button>}</div>}
          <div className="relative" style={{ height: virtual.total }}>
            {virtual.items.map((v) => (
              <div key={keys[v.index]} data-key={keys[v.index]} data-index={v.index} ref={virtual.watch} className="absolute inset-x-0 top-0 pb-4" style={{ transform: `translateY(${v.start}px)` }}>
                {before(keys[v.index]!)}
                <Message message={settled[v.index]!} onRewind={onRewind} onBranch={onBranch} />
              </div>
            ))}
          </div>
          {newest !== undefined && before(newest.id)}
          {newest !== undefined && <Message key={newest.id} message={newest} newest onRewind={onRewind} onBranch={onBranch} />}
          {before("")}
          <Spare>{shown && <NotesReader onNotes={setNotes} />}</Spare>
        </div>
      </div>
      {!follows && (
        <div className="pointer-events-none absolute inset-x-0 bottom-3 flex justify-center">
          <button type="button" onClick={() => setFollows(true)} className="rise pointer-events-auto inline-flex h-8 items-center gap-2 rounded-full border border-edge bg-raised px-3.5 text-xs font-medium shadow-float">
            <I.Down size={12} />
            {fresh > 0 ? t("chat.new", { n: fresh }) : t("chat.end")}
            {waiting > 0 && <span className="text-warn">· {t("nav.waiting", { n: waiting })}</span>}
          </button>
        </div>
      )}
    </div>
  );
}
