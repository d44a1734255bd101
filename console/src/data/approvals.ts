import { type Approval, api } from "./api";
import { lobby } from "./lobby";
import { createStore } from "./store";

/** Everything that waits for an answer, over all sessions. */
export const approvals = createStore<{ readonly list: readonly Approval[]; readonly ready: boolean }>({ list: [], ready: false });

let asked = "";
let busy = false;

/** Follows the list of sessions: when one asks or stops asking, what waits is read again. */
export function startApprovals(): void {
  const look = () => {
    const l = lobby.get();
    if (!l.ready) return;
    let mark = "";
    for (const r of l.rows.values()) if (r.pending_approvals > 0) mark += `${r.session_id}.${r.seq} `;
    if (mark === asked || busy) return;
    asked = mark;
    if (mark === "") return approvals.set({ list: [], ready: true });
    busy = true;
    api.approvals().then(
      (page) => approvals.set({ list: page.approvals, ready: true }),
      () => (asked = "?"),
    ).finally(() => {
      busy = false;
      setTimeout(look, asked === "?" ? 2000 : 0);
    });
  };
  lobby.subscribe(look);
  look();
}
