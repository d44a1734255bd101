import type { ButtonHTMLAttributes, ReactNode } from "react";

type Tone = "primary" | "plain" | "quiet" | "good" | "danger";

const tones: Record<Tone, string> = {
  primary: "bg-mark text-on-mark border-transparent hover:opacity-90",
  plain: "bg-raised text-ink border-edge hover:bg-sunken",
  quiet: "bg-transparent text-quiet border-transparent hover:bg-sunken hover:text-ink",
  good: "bg-ok text-panel border-transparent hover:opacity-90",
  danger: "bg-raised text-bad border-edge hover:bg-bad-soft hover:border-bad",
};

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly tone?: Tone;
  readonly size?: "sm" | "md" | "lg";
  readonly hotkey?: string | undefined;
}

const sizes = { sm: "h-7 px-2 text-xs gap-1 pointer-coarse:h-9 pointer-coarse:px-3", md: "h-8 px-3 text-sm gap-1.5 pointer-coarse:h-11", lg: "h-12 px-4 text-base gap-2" };

export function Button({ tone = "plain", size = "md", hotkey, className = "", children, type = "button", ...rest }: ButtonProps): ReactNode {
  return (
    <button type={type} {...rest} className={`inline-flex items-center justify-center rounded-lg border font-medium whitespace-nowrap select-none disabled:opacity-50 ${sizes[size]} ${tones[tone]} ${className}`}>
      {children}
      {hotkey !== undefined && <Kbd plain={tone === "primary" || tone === "good"}>{hotkey}</Kbd>}
    </button>
  );
}

export function IconButton({ label, className = "", children, type = "button", ...rest }: ButtonHTMLAttributes<HTMLButtonElement> & { readonly label: string }): ReactNode {
  return (
    <button type={type} title={label} aria-label={label} {...rest} className={`inline-flex size-8 items-center justify-center rounded-lg text-quiet pointer-coarse:size-10 hover:bg-sunken hover:text-ink disabled:opacity-50 ${className}`}>
      {children}
    </button>
  );
}

/** A key, as it stands on a keyboard; on a phone, which has none, only where it is asked for. */
export function Kbd({ children, plain = false, always = false }: { readonly children: ReactNode; readonly plain?: boolean; readonly always?: boolean }): ReactNode {
  return (
    <kbd className={`items-center rounded-[5px] border px-1 font-mono text-2xs leading-4 ${always ? "inline-flex" : "hidden sm:inline-flex"} ${plain ? "border-current" : "border-edge bg-sunken text-quiet"}`}>{children}</kbd>
  );
}

export function Field({ label, hint, children }: { readonly label: string; readonly hint?: ReactNode; readonly children: ReactNode }): ReactNode {
  return (
    <label className="block">
      <span className="mb-1 block text-xs font-medium text-quiet">{label}</span>
      {children}
      {hint !== undefined && <span className="mt-1 block text-xs text-faint">{hint}</span>}
    </label>
  );
}

export const inputClass = "h-9 w-full pointer-coarse:h-11 rounded-lg border border-edge bg-panel px-3 text-base text-ink placeholder:text-faint";

export function Switch({ label, hint, checked, onChange }: { readonly label: string; readonly hint?: ReactNode; readonly checked: boolean; readonly onChange: (v: boolean) => void }): ReactNode {
  return (
    <label className={`flex cursor-pointer gap-3 py-1.5 ${hint === undefined ? "items-center" : "items-start"}`}>
      <input type="checkbox" role="switch" className="peer sr-only" checked={checked} onChange={(e) => onChange(e.target.checked)} />
      <span className="relative h-5 w-9 shrink-0 rounded-full bg-edge transition-colors peer-checked:bg-mark peer-focus-visible:outline-2 peer-focus-visible:outline-mark after:absolute after:start-0.5 after:top-0.5 after:size-4 after:rounded-full after:bg-panel after:transition-transform peer-checked:after:translate-x-4 dark:after:bg-quiet dark:peer-checked:after:bg-on-mark" />
      <span>
        <span className="block text-sm">{label}</span>
        {hint !== undefined && <span className="block text-xs text-faint">{hint}</span>}
      </span>
    </label>
  );
}

/** One of a few, side by side. */
export function Choice<T extends string>({ label, value, options, onChange }: { readonly label: string; readonly value: T; readonly options: readonly { readonly value: T; readonly label: ReactNode; readonly title?: string }[]; readonly onChange: (v: T) => void }): ReactNode {
  return (
    <div role="radiogroup" aria-label={label} className="inline-flex rounded-lg border border-line bg-sunken p-0.5">
      {options.map((o) => (
        <button key={o.value} type="button" role="radio" aria-checked={o.value === value} title={o.title} onClick={() => onChange(o.value)} className={`inline-flex h-6.5 items-center gap-1.5 rounded-md px-2.5 text-xs font-medium ${o.value === value ? "bg-panel text-ink ring-1 ring-line" : "text-quiet hover:text-ink"}`}>
          {o.label}
        </button>
      ))}
    </div>
  );
}
