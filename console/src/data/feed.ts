import { useCallback, useEffect, useMemo, useRef, useState } from "react";

import { api, type LogEvent, messageOf } from "./api";

/** What of the log is looked at. */
export interface Wanted {
  readonly tier: "default" | "debug";
  readonly types: string; // with commas; empty is all
}

/** Events of the log that one request covers; with a choice of types it covers more, because few of them come. */
const span = (w: Wanted) => (w.types === "" ? 500 : 20_000);

/** The most events that are kept; those at the other end are let go. */
const most = 6000;

interface Range {
  readonly key: string;
  readonly from: number; // everything wanted behind from …
  readonly to: number; // … up to this is here
  readonly events: readonly LogEvent[];
}

/**
 * A window of the log that can be anywhere in it: one request brings it to any
 * event, however long the log is, and it grows to both sides.
 */
export function useFeed(id: string, end: number, wanted: Wanted, start?: number) {
  const key = `${id} ${wanted.tier} ${wanted.types}`;
  const [range, setRange] = useState<Range>();
  const [error, setError] = useState("");
  const [loading, setLoading] = useState(false);
  const latest = useRef(range);
  latest.current = range?.key === key ? range : undefined;
  const busy = useRef(false);
  const size = span(wanted);

  const fetchRange = useCallback(
    async (from: number, to: number): Promise<readonly LogEvent[]> => {
      const list: LogEvent[] = [];
      for (let after = from; after < to; ) {
        const page = await api.events(id, { after, limit: 1000, tier: wanted.tier, types: wanted.types });
        for (const e of page.events) if (e.seq <= to) list.push(e);
        const next = Number(page.next_cursor ?? to);
        if (page.next_cursor === undefined || next <= after) break;
        after = next;
      }
      return list;
    },
    [id, wanted.tier, wanted.types],
  );

  // What grows waits for what is under way; what goes elsewhere makes it void.
  const turn = useRef(0);
  const run = useCallback(async (work: () => Promise<Range>, elsewhere = false) => {
    if (busy.current && !elsewhere) return;
    const mine = ++turn.current;
    busy.current = true;
    setLoading(true);
    try {
      const next = await work();
      if (turn.current === mine) (setRange(next), setError(""));
    } catch (e) {
      if (turn.current === mine) setError(messageOf(e));
    } finally {
      if (turn.current === mine) {
        busy.current = false;
        setLoading(false);
      }
    }
  }, []);

  /** Goes to an event, wherever it is. */
  const jump = useCallback(
    (seq: number) => {
      const r = latest.current;
      if (r !== undefined && seq > r.from && seq <= r.to) return;
      const from = Math.max(0, Math.min(seq - Math.floor(size / 2), end - size));
      const to = Math.min(end, from + size);
      void run(async () => ({ key, from, to, events: await fetchRange(from, to) }), true);
    },
    [end, fetchRange, key, run, size],
  );

  const earlier = useCallback(() => {
    const r = latest.current;
    if (r === undefined || r.from === 0) return;
    void run(async () => {
      const from = Math.max(0, r.from - size);
      const events = [...(await fetchRange(from, r.from)), ...r.events];
      if (events.length <= most) return { ...r, from, events };
      const kept = events.slice(0, most);
      return { ...r, from, to: kept.at(-1)!.seq, events: kept };
    });
  }, [fetchRange, run, size]);

  const later = useCallback(() => {
    const r = latest.current;
    if (r === undefined || r.to >= end) return;
    void run(async () => {
      const to = Math.min(end, r.to + size);
      const events = [...r.events, ...(await fetchRange(r.to, to))];
      if (events.length <= most) return { ...r, to, events };
      const kept = events.slice(-most);
      return { ...r, from: kept[0]!.seq - 1, to, events: kept };
    });
  }, [end, fetchRange, run, size]);

  // Begins at the end, or where somebody wants to be; then follows what is added.
  const attached = useRef(true);
  useEffect(() => {
    if (end === 0) return;
    const r = latest.current;
    if (r === undefined) {
      attached.current = start === undefined;
      return jump(start ?? end);
    }
    if (attached.current && r.to < end && end - r.to <= size) {
      const timer = setTimeout(later, 250);
      return () => clearTimeout(timer);
    }
    return undefined;
  }, [end, key, jump, later, size, start, loading]);
  useEffect(() => {
    if (range !== undefined && range.to >= end) attached.current = true;
  }, [range, end]);

  const detach = useCallback(() => void (attached.current = false), []);
  const events = useMemo(() => (range?.key === key ? range.events : []), [range, key]);
  return { events, from: latest.current?.from ?? 0, to: latest.current?.to ?? 0, loading, error, jump, earlier, later, detach };
}
