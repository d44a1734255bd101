import { useEffect, useRef, useState } from "react";

/** Something is read again at most so often; after failures less often, up to the second. */
const pace = 1200;
const slowest = 10_000;
/** An answer that takes longer is late, and after the second given up. */
const late = 3000;
const patience = 30_000;
/** What the server says to whom asking again is of no use. */
const no = /^(forbidden|not_found|unauthenticated)$/;

export interface Latest<T> {
  readonly value: T | undefined;
  /** The value may be of before, and is being read again. */
  readonly stale: boolean;
}

/** When it may have changed: at another seq, and surely in another state. */
interface Mark {
  readonly seq: number;
  readonly state: string;
}

interface Reader {
  move(to: Mark): void;
  stop(): void;
}

/**
 * Reads something of the server again whenever its mark moves: what runs may
 * end, and is shown, before the newest is asked for; what failed is tried again,
 * unless the server has said no: then when the mark has moved. In another state
 * nothing is waited for, and what is shown is stale until it is read.
 */
export function reader<T>(read: (signal: AbortSignal) => Promise<T>, show: (v: Latest<T>) => void): Reader {
  let mark: Mark | undefined, asked: Mark | undefined, done: Mark | undefined, value: T | undefined, fails = 0, last = 0, ended = false;
  let running: AbortController | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined, alarm: ReturnType<typeof setTimeout> | undefined;
  const other = (than: Mark | undefined) => than !== undefined && than.state !== mark?.state;
  const tell = (stale: boolean) => show({ value, stale });
  const ask = () => {
    timer = undefined;
    last = Date.now();
    const of = (asked = mark), stop = (running = new AbortController());
    const limit = setTimeout(() => stop.abort(), patience);
    read(stop.signal).then(
      (v) => ((value = v), (done = of), (fails = 0)),
      (e: unknown) => (no.test(String((e as { code?: string }).code)) ? ((done = of), (fails = 0)) : fails++),
    ).finally(() => {
      clearTimeout(limit);
      running = undefined;
      if (ended) return;
      if (fails === 0) (clearTimeout(alarm), (alarm = undefined));
      tell(fails > 0 || other(done));
      plan();
    });
  };
  const plan = () => {
    if (done?.seq === mark?.seq && !other(done)) return;
    alarm ??= setTimeout(() => tell(true), late);
    if (running !== undefined) return;
    if (timer !== undefined && !other(asked)) return;
    clearTimeout(timer);
    timer = setTimeout(ask, other(asked) ? 0 : Math.max(60, last + Math.min(slowest, pace * 2 ** fails) - Date.now()));
  };
  return {
    move(to) {
      mark = to;
      if (other(done)) tell(true);
      plan();
    },
    stop() {
      ended = true;
      clearTimeout(timer);
      clearTimeout(alarm);
      running?.abort();
    },
  };
}

/** The newest of what is read; of is what it is about. Nothing is read before its time. */
export function useLatest<T>(of: string, seq: number, read: (signal: AbortSignal) => Promise<T>, state = "", time = true): Latest<T> {
  const [now, setNow] = useState<Latest<T> & { readonly of: string }>();
  const asks = useRef<Reader>(undefined);
  const how = useRef(read);
  how.current = read;
  useEffect(() => {
    const made = (asks.current = reader((stop) => how.current(stop), (v) => setNow({ ...v, of })));
    return () => made.stop();
  }, [of]);
  useEffect(() => void (time && asks.current?.move({ seq, state })), [of, seq, state, time]);
  return now?.of === of ? now : { value: undefined, stale: false };
}
