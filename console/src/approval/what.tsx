import { Fragment, type ReactNode } from "react";

import { drawn } from "../data/edits";
import { plain } from "../data/plain";
import { commandIn } from "../data/risk";
import { EditView } from "../ui/diff";
import { Json } from "../ui/json";

/**
 * All that a call would do: its command, its changes, and every other field. What
 * is not here is not approved by anybody who reads.
 */
export function What({ input, description = "" }: { readonly input: unknown; readonly description?: string | undefined }): ReactNode {
  const command = commandIn(input), { edits, rest } = drawn(input);
  return (
    <>
      {command === undefined && edits.length === 0 && description !== "" && <p className="text-sm whitespace-pre-wrap [overflow-wrap:anywhere]">{plain(description)}</p>}
      {command !== undefined && <pre tabIndex={0} className="overflow-x-auto rounded-lg border border-line bg-sunken px-3 py-2 font-mono text-xs leading-5 whitespace-pre-wrap [overflow-wrap:anywhere]">{plain(command.text)}</pre>}
      {edits.map((e, i) => <EditView key={i} edit={e} />)}
      <Fields of={typeof input === "object" || input === undefined ? Object.entries(rest).filter(([name]) => name !== command?.name) : [["", input]]} />
    </>
  );
}

const size = (v: unknown) => (typeof v === "string" ? v.length : typeof v === "object" ? Infinity : 0);

/** Fields by name, the short ones first: none is hidden behind a long one. */
export function Fields({ of }: { readonly of: readonly (readonly [string, unknown])[] }): ReactNode {
  if (of.length === 0) return null;
  return (
    <dl data-testid="fields" className="grid grid-cols-[fit-content(40%)_minmax(0,1fr)] gap-x-3 gap-y-0.5 font-mono text-xs leading-5 [overflow-wrap:anywhere]">
      {of.toSorted(([, a], [, b]) => (size(a) < size(b) ? -1 : size(a) > size(b) ? 1 : 0)).map(([name, v]) => (
        <Fragment key={name}>
          <dt className="text-quiet">{plain(name)}</dt>
          <dd className="whitespace-pre-wrap">{typeof v === "string" && v !== "" ? plain(v) : typeof v === "object" && v !== null ? <Json value={v} /> : JSON.stringify(v)}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
