import { t } from "../i18n";
import { approvals } from "./approvals";
import { onRow, type Row } from "./lobby";
import { plain } from "./plain";
import { isQuiet, prefs } from "./prefs";
import { createStore } from "./store";

/** What a screen reader is told: beginnings and ends, never tokens. */
export const spoken = createStore("");

export function announce(text: string): void {
  spoken.set(text);
}

/** What happened within this time is told together. */
const together = 400;
const news = new Map<string, { readonly row: Row; readonly text: string }>();

/** Keeps something to tell until it is clear whether there is more. In quiet hours nobody is told; the title still counts. */
function tell(row: Row, text: string): void {
  const { notify, quiet } = prefs.get();
  if (!(document.hidden || !document.hasFocus()) || !notify || isQuiet(quiet, new Date())) return;
  if (news.size === 0) setTimeout(flush, together);
  news.set(row.session_id, { row, text });
}

function flush(): void {
  const all = [...news.values()];
  news.clear();
  const one = all[0]!;
  if (all.length === 1) show(titleOf(one.row), one.text, one.row.session_id);
  else show(t("notice.several", { n: all.length }), all.map((n) => `${titleOf(n.row)}: ${n.text}`).join("\n"));
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
    tell(row, text);
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
