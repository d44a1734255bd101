import { HarnessClient, type HarnessState } from "harness-client";
import { HarnessProvider, useClient, useConnection, useHarness } from "harness-client/react";
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";

import { api, type Detail } from "../../data/api";
import { useLatest } from "../../data/latest";
import { type Row, useRow } from "../../data/lobby";
import { toast } from "../../data/toasts";

/** The newest messages that are kept live; older ones are fetched when somebody scrolls there. */
const window = 60;

interface Live {
  readonly id: string;
  readonly row: Row | undefined;
  /** What is not in the live state: health, budgets, checkpoints, artifacts. */
  readonly detail: Detail | undefined;
  /** The detail may be of before. */
  readonly stale: boolean;
  /** The conversation is on the screen: what goes with it is fetched after it. */
  readonly shown: boolean;
}

const Context = createContext<Live | undefined>(undefined);

export function useLive(): Live {
  const live = useContext(Context);
  if (live === undefined) throw new Error("there is no session above");
  return live;
}

/** Follows a session while it is shown. */
export function LiveSession({ id, children }: { readonly id: string; readonly children: ReactNode }): ReactNode {
  const [client, setClient] = useState<HarnessClient>();
  useEffect(() => {
    const made = new HarnessClient({ sessionId: id, window, onError: (e) => toast(e.message, "bad") });
    setClient(made);
    return () => made.close();
  }, [id]);
  if (client === undefined) return null;
  return <HarnessProvider client={client}><WithDetail id={id}>{children}</WithDetail></HarnessProvider>;
}

function WithDetail({ id, children }: { readonly id: string; readonly children: ReactNode }): ReactNode {
  const row = useRow(id);
  const phase = useConnection().phase;
  const status = useHarness((s) => s.status);
  const shown = useShown();
  const { value: detail, stale } = useLatest(id, row?.seq ?? 0, (stop) => api.detail(id, stop), `${status} ${phase === "open"}`, shown);
  return <Context.Provider value={{ id, row, detail, stale, shown }}>{children}</Context.Provider>;
}

/** Whether the first state is painted, or cannot be had. */
function useShown(): boolean {
  const known = useHarness(() => true) === true;
  const { phase, attempt } = useConnection();
  const [shown, setShown] = useState(false);
  useEffect(() => {
    if (!known) return;
    let timer: ReturnType<typeof setTimeout>;
    const frame = requestAnimationFrame(() => (timer = setTimeout(() => setShown(true))));
    return () => (cancelAnimationFrame(frame), clearTimeout(timer));
  }, [known]);
  return shown || attempt > 0 || phase === "closed";
}

export { useClient, useConnection, useHarness };
export type { HarnessState };

/** The session's status: the list's is the finest, the state's the newest. */
export function useStatus(): Row["status"] {
  const { row } = useLive();
  const live = useHarness((s) => s.status);
  if (live === "awaiting-approval") return "awaiting_approval";
  if (live === "running") return row?.status === "queued" || row?.status === "recovering" ? row.status : "running";
  if (live === "error") return row?.status === "idle" ? "failed" : (row?.status ?? "failed");
  return row === undefined || row.status === "running" || row.status === "awaiting_approval" ? "idle" : row.status;
}
