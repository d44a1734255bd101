import type { ReactNode } from "react";

import { t, type Key } from "../i18n";

export type Status = "idle" | "queued" | "running" | "awaiting_approval" | "paused" | "recovering" | "completed" | "failed" | "cancelled";

const looks: Record<Status, { readonly shape: ReactNode; readonly tone: string; readonly soft: string }> = {
  awaiting_approval: { shape: <path d="M6 .8 11.2 6 6 11.2.8 6z" fill="currentColor" />, tone: "text-warn", soft: "bg-warn-soft text-warn" },
  running: { shape: <><circle cx="6" cy="6" r="5" fill="none" stroke="currentColor" strokeWidth="1.5" /><circle cx="6" cy="6" r="2.4" fill="currentColor" className="breathe" /></>, tone: "text-run", soft: "bg-run-soft text-run" },
  recovering: { shape: <path d="M10.5 6A4.5 4.5 0 1 1 8 2M8 0v2.6H5.6" fill="none" stroke="currentColor" strokeWidth="1.5" />, tone: "text-warn", soft: "bg-warn-soft text-warn" },
  queued: { shape: <circle cx="6" cy="6" r="4.8" fill="none" stroke="currentColor" strokeWidth="1.5" strokeDasharray="2 2" />, tone: "text-run", soft: "bg-run-soft text-run" },
  paused: { shape: <path d="M3.6 2v8M8.4 2v8" stroke="currentColor" strokeWidth="2.2" />, tone: "text-quiet", soft: "bg-sunken text-quiet" },
  idle: { shape: <circle cx="6" cy="6" r="4.6" fill="none" stroke="currentColor" strokeWidth="1.4" />, tone: "text-faint", soft: "bg-sunken text-quiet" },
  completed: { shape: <path d="M1.5 6.5 4.7 9.7 10.5 2.8" fill="none" stroke="currentColor" strokeWidth="1.8" />, tone: "text-ok", soft: "bg-ok-soft text-ok" },
  failed: { shape: <path d="M2.2 2.2l7.6 7.6M9.8 2.2 2.2 9.8" stroke="currentColor" strokeWidth="2" />, tone: "text-bad", soft: "bg-bad-soft text-bad" },
  cancelled: { shape: <path d="M1.5 6h9" stroke="currentColor" strokeWidth="2" />, tone: "text-faint", soft: "bg-sunken text-quiet" },
};

/** A status by shape and colour. */
export function StatusGlyph({ status, size = 12 }: { readonly status: Status; readonly size?: number }): ReactNode {
  const look = looks[status] ?? looks.idle;
  return <svg width={size} height={size} viewBox="0 0 12 12" aria-hidden="true" className={`shrink-0 ${look.tone}`}>{look.shape}</svg>;
}

export function statusText(status: Status): string {
  return t(`status.${status}` as Key);
}

export function StatusBadge({ status, children }: { readonly status: Status; readonly children?: ReactNode }): ReactNode {
  const look = looks[status] ?? looks.idle;
  return (
    <span className={`inline-flex h-6 items-center gap-1.5 rounded-full px-2.5 text-xs font-medium whitespace-nowrap ${look.soft}`}>
      <StatusGlyph status={status} size={10} />
      {children ?? statusText(status)}
    </span>
  );
}

const grades = { healthy: "text-ok", watch: "text-warn", degraded: "text-warn", critical: "text-bad" };

export function Score({ score, grade }: { readonly score: number; readonly grade: keyof typeof grades }): ReactNode {
  return (
    <span title={t("health.score", { n: score })} className={`inline-flex items-center gap-1 text-xs font-medium ${grades[grade]}`}>
      <svg width="11" height="11" viewBox="0 0 16 16" aria-hidden="true"><path d="M8 13.8S1.8 10 1.8 6A3.2 3.2 0 0 1 8 4.6 3.2 3.2 0 0 1 14.2 6C14.2 10 8 13.8 8 13.8" fill="currentColor" /></svg>
      <span className="num">{score}</span>
    </span>
  );
}

export function Chip({ children, tone = "quiet", title }: { readonly children: ReactNode; readonly tone?: "quiet" | "warn" | "bad" | "ok" | "run" | "mark"; readonly title?: string }): ReactNode {
  const tones = { quiet: "bg-sunken text-quiet", warn: "bg-warn-soft text-warn", bad: "bg-bad-soft text-bad", ok: "bg-ok-soft text-ok", run: "bg-run-soft text-run", mark: "bg-mark-soft text-mark" };
  return <span title={title} className={`inline-flex h-5 max-w-full items-center gap-1 truncate rounded-md px-1.5 text-2xs font-medium ${tones[tone]}`}>{children}</span>;
}
