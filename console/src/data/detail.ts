import { useEffect, useRef, useState } from "react";

import { api, type Detail } from "./api";

/** A session's detail is read again at most so often. */
const pace = 1200;

/**
 * What is not in the live state of a session: health, budgets, checkpoints,
 * artifacts. It is read again when the session went on; nothing is asked while
 * it stands still or nobody looks.
 */
export function useDetail(id: string, mark: string): Detail | undefined {
  const [detail, setDetail] = useState<Detail>();
  const last = useRef(0);
  useEffect(() => {
    const stop = new AbortController();
    const ask = () => {
      last.current = Date.now();
      api.detail(id, stop.signal).then((d) => stop.signal.aborted || setDetail(d), () => undefined);
    };
    const timer = setTimeout(ask, Math.max(60, last.current + pace - Date.now()));
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [id, mark]);
  return detail?.session_id === id ? detail : undefined;
}
