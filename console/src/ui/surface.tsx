import { type ReactNode, useEffect, useRef } from "react";

import { IconButton } from "./controls";
import * as I from "./icons";
import { t } from "../i18n";

export function Panel({ title, aside, children, className = "" }: { readonly title?: ReactNode; readonly aside?: ReactNode; readonly children: ReactNode; readonly className?: string }): ReactNode {
  return (
    <section className={`rounded-xl border border-line bg-panel ${className}`}>
      {title !== undefined && (
        <header className="flex items-center justify-between gap-2 px-4 pt-3">
          <h2 className="text-2xs font-semibold tracking-wider text-faint uppercase">{title}</h2>
          {aside}
        </header>
      )}
      <div className="px-4 py-3">{children}</div>
    </section>
  );
}

export function Empty({ icon, title, page = false, children }: { readonly icon?: ReactNode; readonly title: string; readonly page?: boolean; readonly children?: ReactNode }): ReactNode {
  return (
    <div className="mx-auto flex max-w-md flex-col items-center px-6 py-10 text-center">
      {icon !== undefined && <div className="mb-3 grid size-11 place-items-center rounded-xl border border-line bg-panel text-faint">{icon}</div>}
      {page ? <h1 className="text-base font-medium">{title}</h1> : <p className="text-base font-medium">{title}</p>}
      {children !== undefined && <div className="mt-1.5 text-sm text-quiet">{children}</div>}
    </div>
  );
}

/** A dialog that the browser owns: focus stays in it, Escape ends it. */
const widths = { sm: "max-w-lg", md: "max-w-xl", lg: "max-w-3xl" };

export function Dialog({ title, open, onClose, children, size = "sm", footer }: { readonly title: string; readonly open: boolean; readonly onClose: () => void; readonly children: ReactNode; readonly size?: "sm" | "md" | "lg"; readonly footer?: ReactNode }): ReactNode {
  const ref = useRef<HTMLDialogElement>(null);
  const body = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const d = ref.current;
    if (d === null) return;
    if (open && !d.open) {
      d.showModal();
      // The browser would take the first, which closes it: a field, or what is to be read, comes before that.
      (body.current?.querySelector<HTMLElement>("input, textarea, select") ?? body.current)?.focus();
    }
    if (!open && d.open) d.close();
  }, [open]);
  if (!open) return null;
  return (
    <dialog
      ref={ref}
      aria-label={title}
      onClose={onClose}
      onCancel={(e) => (e.preventDefault(), onClose())}
      onClick={(e) => e.target === ref.current && onClose()}
      className={`m-auto max-h-[85dvh] w-full overflow-hidden rounded-2xl border border-line bg-panel p-0 shadow-float max-sm:mb-0 max-sm:max-w-none max-sm:rounded-b-none sm:mt-[10vh] ${widths[size]}`}
    >
      <div className="flex max-h-[85dvh] flex-col">
        <header className="flex items-center justify-between border-b border-line py-2.5 ps-5 pe-3">
          <h2 className="text-base font-semibold">{title}</h2>
          <IconButton label={t("close")} onClick={onClose}><I.Close /></IconButton>
        </header>
        <div ref={body} tabIndex={-1} className="min-h-0 flex-1 overflow-y-auto px-5 py-4 outline-none">{children}</div>
        {footer !== undefined && <footer className="flex items-center justify-end gap-2 border-t border-line bg-ground px-5 py-3">{footer}</footer>}
      </div>
    </dialog>
  );
}

/** How much of something is used, with its words. */
export function Meter({ label, ratio, text }: { readonly label: string; readonly ratio: number | null; readonly text: string }): ReactNode {
  const r = ratio ?? 0;
  const tone = r >= 1 ? "bg-bad" : r >= 0.8 ? "bg-warn" : "bg-mark";
  return (
    <div className="py-1">
      <div className="flex justify-between gap-3 text-xs"><span className="text-quiet">{label}</span><span className="num">{text}</span></div>
      {ratio !== null && (
        <div role="meter" aria-label={label} aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(r * 100)} className="mt-1 h-1.5 overflow-hidden rounded-full bg-sunken">
          <div className={`h-full rounded-full ${tone}`} style={{ width: `${Math.min(100, r * 100)}%` }} />
        </div>
      )}
    </div>
  );
}

export function Sparkline({ values, className = "" }: { readonly values: readonly number[]; readonly className?: string }): ReactNode {
  if (values.length < 2) return null;
  const w = 40, h = 14, step = w / (values.length - 1);
  const d = values.map((v, i) => `${i === 0 ? "M" : "L"}${(i * step).toFixed(1)} ${(h - 1 - (v / 100) * (h - 2)).toFixed(1)}`).join("");
  return <svg width={w} height={h} aria-hidden="true" className={className}><path d={d} fill="none" stroke="currentColor" strokeWidth="1.25" /></svg>;
}

export function Banner({ tone, children, actions }: { readonly tone: "warn" | "bad" | "info"; readonly children: ReactNode; readonly actions?: ReactNode }): ReactNode {
  const tones = { warn: "bg-warn-soft text-warn", bad: "bg-bad-soft text-bad", info: "bg-mark-soft text-mark" };
  return (
    <div className={`flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-2 text-sm ${tones[tone]}`}>
      <div className="min-w-0 flex-1 basis-64">{children}</div>
      {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </div>
  );
}
