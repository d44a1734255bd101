import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";

import { HarnessClient } from "./client.js";
import type { HarnessError } from "./errors.js";
import type { Event } from "./http.gen.js";
import type { Connection, HarnessOptions } from "./options.js";
import type { Ack, Pending } from "./outbox.js";
import { pagesOf } from "./pages.js";
import type { HarnessCommand, HarnessMessage, HarnessState } from "./protocol.gen.js";

const Context = createContext<HarnessClient | undefined>(undefined);

/** Gives everything below it a client. */
export function HarnessProvider(props: { readonly client: HarnessClient; readonly children?: ReactNode }): ReactNode {
  return <Context.Provider value={props.client}>{props.children}</Context.Provider>;
}

/** The client of the provider above. */
export function useClient(): HarnessClient {
  const client = useContext(Context);
  if (client === undefined) throw new Error("there is no HarnessProvider above");
  return client;
}

/**
 * A client that lives as long as the component, and is another one when the
 * session or the server is; undefined until the component is mounted.
 */
export function useHarnessClient(options: HarnessOptions): HarnessClient | undefined {
  const [client, setClient] = useState<HarnessClient>();
  const latest = useRef(options);
  latest.current = options;
  useEffect(() => {
    const made = new HarnessClient(latest.current);
    setClient(made);
    return () => made.close();
  }, [options.url, options.token, options.sessionId, options.userId, options.window]);
  return client;
}

/**
 * What a selector takes from the state; undefined before the first one. It
 * renders again only when that is something else. Parts of the state keep their
 * identity, so a selector of a part needs no comparison.
 */
export function useHarness<T>(select: (s: HarnessState) => T, same: (a: T, b: T) => boolean = Object.is): T | undefined {
  const client = useClient();
  const last = useRef<{ readonly value: T }>(undefined);
  const read = () => {
    const state = client.getState();
    if (state === undefined) return undefined;
    const value = select(state);
    if (last.current === undefined || !same(last.current.value, value)) last.current = { value };
    return last.current.value;
  };
  return useSyncExternalStore(client.subscribe, read, read);
}

export function useConnection(): Connection {
  const client = useClient();
  return useSyncExternalStore(client.subscribe, client.getConnection, client.getConnection);
}

/** Commands without an answer, oldest first. */
export function usePending(): readonly Pending[] {
  const client = useClient();
  return useSyncExternalStore(client.subscribe, client.getPending, client.getPending);
}

/** Sends commands, and says whether one of them waits and why the last one failed. */
export function useCommand(): { readonly send: (c: HarnessCommand) => Promise<Ack>; readonly waiting: boolean; readonly error: HarnessError | undefined } {
  const client = useClient();
  const [waiting, setWaiting] = useState(0);
  const [error, setError] = useState<HarnessError>();
  const send = useCallback(
    (command: HarnessCommand) => {
      setWaiting((n) => n + 1);
      setError(undefined);
      const sent = client.send(command);
      sent.then(() => setWaiting((n) => n - 1), (e: HarnessError) => (setWaiting((n) => n - 1), setError(e)));
      return sent;
    },
    [client],
  );
  return { send, waiting: waiting > 0, error };
}

/** The events from…to of the log, as far as they are here; what is missing is fetched. */
export function useEventWindow(from: number, to: number): { readonly events: readonly Event[]; readonly loading: boolean; readonly error: HarnessError | undefined } {
  const client = useClient();
  const [got, setGot] = useState<{ readonly events: readonly Event[]; readonly key: string; readonly error?: HarnessError }>();
  const session = useHarness((s) => s.sessionId);
  const key = `${session} ${from} ${to}`;
  useEffect(() => {
    let current = true;
    pagesOf(client).events.window(from, to).then(
      (events) => current && setGot({ events, key }),
      (error: HarnessError) => current && setGot({ events: [], key, error }),
    );
    return () => void (current = false);
  }, [client, from, to, key]);
  const here = got?.key === key ? got : undefined;
  return { events: here?.events ?? pagesOf(client).events.peek(from, to), loading: here === undefined, error: here?.error };
}

/** The messages before those of the state, newest pages first, a page at a time. */
export function useHistory(page = 50): {
  readonly messages: readonly HarnessMessage[];
  readonly more: boolean;
  readonly loading: boolean;
  readonly error: HarnessError | undefined;
  readonly load: () => Promise<void>;
} {
  const client = useClient();
  const first = useHarness((s) => s.firstMessage ?? 0) ?? 0;
  const session = useHarness((s) => s.sessionId);
  const [from, setFrom] = useState<number>();
  const [list, setList] = useState<readonly HarnessMessage[]>([]);
  const [loading, setLoading] = useState(false);
  const [error, setError] = useState<HarnessError>();
  useEffect(() => (setFrom(undefined), setList([]), setError(undefined)), [client, session]);
  // When the window moves on, what it leaves behind belongs to what was loaded.
  useEffect(() => {
    if (from === undefined || from + list.length >= first) return;
    let current = true;
    pagesOf(client).messages.range(from + list.length, first).then((added) => current && added.length > 0 && setList((l) => [...l, ...added]), setError);
    return () => void (current = false);
  }, [client, from, first, list]);
  const begin = from ?? first;
  const load = useCallback(async () => {
    const next = Math.max(0, begin - page);
    if (next === begin) return;
    setLoading(true);
    try {
      const added = await pagesOf(client).messages.range(next, begin);
      setList((l) => [...added, ...l]);
      setFrom(next);
      setError(undefined);
    } catch (e) {
      setError(e as HarnessError);
    } finally {
      setLoading(false);
    }
  }, [client, begin, page]);
  const messages = useMemo(() => list.slice(0, Math.max(0, first - begin)), [list, first, begin]);
  return { messages, more: begin > 0, loading, error, load };
}
