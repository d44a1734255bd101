import { memo, type ReactNode, useState } from "react";

import { plain } from "../data/plain";

/** A value as a tree; what is deep or long is closed until somebody opens it. */
export const Json = memo(function Json({ value, depth = 0 }: { readonly value: unknown; readonly depth?: number }): ReactNode {
  return <div className="font-mono text-xs leading-5 [overflow-wrap:anywhere]"><Value value={value} depth={depth} open={2} /></div>;
});

function Value({ value, depth, open, name }: { readonly value: unknown; readonly depth: number; readonly open: number; readonly name?: string }): ReactNode {
  const label = name === undefined ? null : <span className="text-quiet">{plain(name)}: </span>;
  if (typeof value === "object" && value !== null) return <Branch name={name} value={value} depth={depth} open={open} />;
  if (typeof value === "string") return <div className="whitespace-pre-wrap">{label}<Long text={plain(JSON.stringify(value))} /></div>;
  return <div>{label}<span className={value === null ? "text-faint" : "text-mark"}>{String(value)}</span></div>;
}

function Long({ text }: { readonly text: string }): ReactNode {
  const [open, setOpen] = useState(false);
  if (text.length < 400 || open) return <span className="text-ok">{text}</span>;
  return <span className="text-ok">{text.slice(0, 300)}<button type="button" className="text-mark underline" onClick={() => setOpen(true)}>… {text.length.toLocaleString()}</button></span>;
}

function Branch({ value, depth, open, name }: { readonly value: object; readonly depth: number; readonly open: number; readonly name?: string | undefined }): ReactNode {
  const [shown, setShown] = useState(depth < open);
  const list = Array.isArray(value);
  const entries = list ? (value as unknown[]).map((v, i) => [String(i), v] as const) : Object.entries(value);
  const [more, setMore] = useState(100);
  if (entries.length === 0) return <div>{name !== undefined && <span className="text-quiet">{plain(name)}: </span>}<span className="text-faint">{list ? "[]" : "{}"}</span></div>;
  return (
    <div>
      <button type="button" aria-expanded={shown} onClick={() => setShown(!shown)} className="text-start hover:text-mark">
        <span aria-hidden="true" className="inline-block w-3 text-faint">{shown ? "▾" : "▸"}</span>
        {name !== undefined && <span className="text-quiet">{plain(name)} </span>}
        <span className="text-faint">{list ? `[${entries.length}]` : shown ? "{" : `{ ${entries.slice(0, 4).map(([k]) => k).join(", ")}${entries.length > 4 ? ", …" : ""} }`}</span>
      </button>
      {shown && (
        <div className="ms-1.5 border-s border-line ps-2.5">
          {entries.slice(0, more).map(([k, v]) => <Value key={k} name={k} value={v} depth={depth + 1} open={open} />)}
          {entries.length > more && <button type="button" className="text-mark underline" onClick={() => setMore(more + 500)}>…</button>}
        </div>
      )}
    </div>
  );
}
