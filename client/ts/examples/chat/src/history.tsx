import { useHarness, useHistory } from "harness-client/react";

/** What is older than the runtime's window: first what the state has, then pages. */
export function History() {
  const older = useHistory(50);
  const here = useHarness((s) => s.messages.slice(0, Math.max(0, s.messages.length - 50)), (a, b) => a.length === b.length && a.every((m, i) => m === b[i])) ?? [];
  return (
    <section aria-label="Earlier messages">
      {older.more && (
        <button className="more" disabled={older.loading} onClick={() => void older.load()}>
          {older.loading ? "Loading…" : "Earlier messages"}
        </button>
      )}
      {older.error && <p className="banner failure">{older.error.message}</p>}
      {[...older.messages, ...here].map((m) => (
        <article key={m.id} className={`message ${m.role}`}>
          <p>{m.content}</p>
          {m.toolCalls?.map((c) => (
            <p key={c.id} className={`tool ${c.status}`}>
              {c.name} <span>{c.status}</span>
            </p>
          ))}
        </article>
      ))}
    </section>
  );
}
