import { t } from "../i18n";
import { approvals } from "./approvals";
import { onRow, type Row } from "./lobby";
import { plain } from "./plain";
import { prefs } from "./prefs";
import { createStore } from "./store";

/** What a screen reader is told: beginnings and ends, never tokens. */
export const spoken = createStore("");

export function announce(text: string): void {
  spoken.set(text);
}

/** Tells a person who looks elsewhere: the title counts what waits, and the browser may say it. */
export function startNotices(): void {
  approvals.subscribe(() => {
    const n = approvals.get().list.length;
    document.title = document.title.replace(/^\(\d+\) /, "");
    if (n > 0) document.title = `(${n}) ${document.title}`;
  });
  onRow((row, before) => {
    if (before === undefined || before.status === row.status) return;
    const text = worth(row, before);
    if (text === undefined) return;
    announce(`${titleOf(row)}: ${text}`);
    if (document.hidden && prefs.get().notify) show(titleOf(row), text, row.session_id);
  });
}

function worth(row: Row, before: Row): string | undefined {
  switch (row.status) {
    case "awaiting_approval":
      return t("notice.asks");
    case "failed":
      return t("notice.failed");
    case "completed":
      return t("notice.done");
    case "idle":
      return before.status === "running" ? (row.reason === "error" ? t("notice.failed") : t("notice.done")) : undefined;
    default:
      return undefined;
  }
}

export function titleOf(row: { readonly title?: string; readonly session_id: string } | undefined): string {
  return row === undefined ? "" : row.title !== undefined && row.title !== "" ? plain(row.title) : t("session.untitled");
}

/** Shows a notice of the browser, and says whether it could. */
export function show(title: string, body: string, session?: string): boolean {
  if (typeof Notification === "undefined" || Notification.permission !== "granted") return false;
  const n = new Notification(title, { body, tag: session ?? "harness" });
  n.onclick = () => {
    focus();
    if (session !== undefined) location.assign(`/s/${encodeURIComponent(session)}`);
    n.close();
  };
  if (prefs.get().sound) beep();
  return true;
}

function beep(): void {
  const c = new AudioContext(), o = c.createOscillator(), g = c.createGain();
  o.frequency.value = 660;
  g.gain.setValueAtTime(0.06, c.currentTime);
  g.gain.exponentialRampToValueAtTime(0.0001, c.currentTime + 0.35);
  o.connect(g).connect(c.destination);
  o.start();
  o.stop(c.currentTime + 0.36);
}
