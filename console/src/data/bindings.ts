import type { Key } from "../i18n/more";
import { prefs } from "./prefs";
import { useSelect } from "./store";

export type Scope = "everywhere" | "lists" | "approvals" | "session";

/** Everything that a key does, where, and its key unless somebody wants another. */
export const actions = {
  palette: { scope: "everywhere", key: "mod+k", what: "keys.palette" },
  sessions: { scope: "everywhere", key: "g s", what: "keys.sessions" },
  inbox: { scope: "everywhere", key: "g i", what: "keys.inbox" },
  cockpit: { scope: "everywhere", key: "g c", what: "keys.cockpit" },
  settings: { scope: "everywhere", key: "g ,", what: "keys.settings" },
  new: { scope: "everywhere", key: "n", what: "keys.new" },
  theme: { scope: "everywhere", key: "t", what: "keys.theme" },
  help: { scope: "everywhere", key: "?", what: "keys.help" },
  search: { scope: "lists", key: "/", what: "keys.search" },
  down: { scope: "lists", key: "j", what: "keys.down" },
  up: { scope: "lists", key: "k", what: "keys.up" },
  approve: { scope: "approvals", key: "y", what: "keys.approve" },
  always: { scope: "approvals", key: "a", what: "keys.always" },
  deny: { scope: "approvals", key: "n", what: "keys.deny" },
  say: { scope: "approvals", key: "m", what: "keys.say" },
  chat: { scope: "session", key: "1", what: "tab.chat" },
  timeline: { scope: "session", key: "2", what: "tab.timeline" },
  changes: { scope: "session", key: "3", what: "tab.changes" },
  tree: { scope: "session", key: "4", what: "tab.tree" },
  artifacts: { scope: "session", key: "5", what: "tab.artifacts" },
  inspect: { scope: "session", key: "6", what: "tab.inspect" },
  write: { scope: "session", key: "i", what: "keys.write" },
  pause: { scope: "session", key: "p", what: "keys.pause" },
  previousTurn: { scope: "session", key: "[", what: "keys.previousTurn" },
  nextTurn: { scope: "session", key: "]", what: "keys.nextTurn" },
  previousEvent: { scope: "session", key: ",", what: "keys.previousEvent" },
  nextEvent: { scope: "session", key: ".", what: "keys.nextEvent" },
  zoomIn: { scope: "session", key: "+", what: "keys.zoomIn" },
  zoomOut: { scope: "session", key: "-", what: "keys.zoomOut" },
  end: { scope: "session", key: "G", what: "keys.end" },
  branch: { scope: "session", key: "b", what: "keys.branch" },
  debug: { scope: "session", key: "d", what: "keys.debug" },
} as const satisfies Readonly<Record<string, { readonly scope: Scope; readonly key: string; readonly what: Key }>>;

export type Action = keyof typeof actions;

/** Keys that do what they do everywhere else, too, and stay what they are. */
export const fixed: readonly { readonly scope: Scope; readonly key: string; readonly what: Key }[] = [
  { scope: "lists", key: "Enter", what: "keys.open" },
  { scope: "session", key: "Enter", what: "keys.send" },
  { scope: "session", key: "Shift Enter", what: "keys.queue" },
  { scope: "session", key: "Alt Enter", what: "keys.newline" },
  { scope: "session", key: "Esc Esc", what: "keys.stop" },
];

export function isAction(name: string): name is Action {
  return name in actions;
}

/** The key of an action: what somebody chose, or the usual one. An empty one is none. */
export function keyOf(a: Action): string {
  return prefs.get().keys[a] ?? actions[a].key;
}

const mac = /Mac|iP(hone|ad)/.test(navigator.platform);

/** A key as it stands on a keyboard, one word for each stroke. */
export function shownKey(key: string): string {
  return key.split(" ").map((k) => (k.startsWith("mod+") ? `${mac ? "⌘" : "Ctrl"} ${k.slice(4).toUpperCase()}` : k)).join(" ");
}

/** The keys of actions as they are shown, also when they change. */
export function useKeyNames(): (a: Action) => string | undefined {
  useSelect(prefs, (p) => p.keys);
  return (a) => {
    const key = keyOf(a);
    return key === "" ? undefined : shownKey(key);
  };
}

/**
 * Which action a key would be taken from. A question that waits is heard before
 * everything else, so its keys may be those of places elsewhere.
 */
export function conflict(a: Action, key: string): Action | undefined {
  if (key === "") return undefined;
  for (const other of Object.keys(actions) as Action[]) {
    const has = keyOf(other);
    if (other === a || has === "") continue;
    if (has !== key && !has.startsWith(key + " ") && !key.startsWith(has + " ")) continue;
    const scopes = [actions[a].scope, actions[other].scope];
    if (has === key && scopes.includes("approvals") && scopes.includes("everywhere")) continue;
    return other;
  }
  return undefined;
}

/** What a stroke is called here; undefined if it is one that stays what it is. */
export function strokeOf(e: { readonly key: string; readonly ctrlKey: boolean; readonly metaKey: boolean; readonly altKey: boolean }): string | undefined {
  if (e.altKey || e.key.length !== 1 || e.key === " ") return undefined;
  return e.ctrlKey || e.metaKey ? `mod+${e.key.toLowerCase()}` : e.key;
}
