import type { ReactNode } from "react";

import { type Key, t } from "../i18n";
import { Kbd } from "../ui/controls";
import { Dialog } from "../ui/surface";
import { closeSheet } from "./open";

/** Every key there is, by where it works. */
export const keymap: readonly { readonly scope: Key; readonly keys: readonly (readonly [string, Key])[] }[] = [
  {
    scope: "keys.everywhere",
    keys: [["Ctrl K", "keys.palette"], ["g s", "keys.sessions"], ["g i", "keys.inbox"], ["g c", "keys.cockpit"], ["g ,", "keys.settings"], ["n", "keys.new"], ["t", "keys.theme"], ["?", "keys.help"]],
  },
  { scope: "keys.lists", keys: [["/", "keys.search"], ["j  k", "keys.move"], ["Enter", "keys.open"]] },
  { scope: "keys.approvals", keys: [["y", "keys.approve"], ["a", "keys.always"], ["n", "keys.deny"], ["m", "keys.say"]] },
  {
    scope: "keys.session",
    keys: [["1 … 6", "keys.tabs"], ["i", "keys.write"], ["Enter", "keys.send"], ["Shift Enter", "keys.queue"], ["Alt Enter", "keys.newline"], ["Esc Esc", "keys.stop"], ["p", "keys.pause"], ["[  ]", "keys.turns"], [",  .", "keys.events"], ["b", "keys.branch"], ["d", "keys.debug"]],
  },
];

export default function HelpSheet(): ReactNode {
  return (
    <Dialog title={t("help.title")} open onClose={closeSheet} wide>
      <div className="grid gap-x-10 gap-y-6 sm:grid-cols-2">
        {keymap.map((g) => (
          <section key={g.scope}>
            <h3 className="mb-2 text-2xs font-semibold tracking-wider text-faint uppercase">{t(g.scope)}</h3>
            <dl className="space-y-1.5">
              {g.keys.map(([k, what]) => (
                <div key={k} className="flex items-center justify-between gap-4 text-sm">
                  <dt className="text-quiet">{t(what)}</dt>
                  <dd className="flex gap-1">{k.split(/\s+/).map((one) => <Kbd key={one}>{one}</Kbd>)}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
