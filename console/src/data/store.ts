import { useRef, useSyncExternalStore } from "react";

/** A value that components follow. */
export interface Store<T> {
  readonly get: () => T;
  readonly set: (next: T | ((v: T) => T)) => void;
  readonly subscribe: (l: () => void) => () => void;
}

export function createStore<T>(first: T): Store<T> {
  let value = first;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      const made = typeof next === "function" ? (next as (v: T) => T)(value) : next;
      if (Object.is(made, value)) return;
      value = made;
      for (const l of [...listeners]) l();
    },
    subscribe(l) {
      listeners.add(l);
      return () => listeners.delete(l);
    },
  };
}

export function useStore<T>(store: Store<T>): T {
  return useSyncExternalStore(store.subscribe, store.get);
}

/** A part of a store; it renders again only when that is another. */
export function useSelect<T, P>(store: Store<T>, select: (v: T) => P, same: (a: P, b: P) => boolean = Object.is): P {
  const last = useRef<{ readonly of: T; readonly value: P }>(undefined);
  return useSyncExternalStore(store.subscribe, () => {
    const of = store.get();
    if (last.current !== undefined && Object.is(last.current.of, of)) return last.current.value;
    const value = select(of);
    if (last.current !== undefined && same(last.current.value, value)) {
      last.current = { of, value: last.current.value };
      return last.current.value;
    }
    last.current = { of, value };
    return value;
  });
}
