import { type ReactNode, useEffect } from "react";
import { Route, Switch, useLocation } from "wouter";

import { approvals } from "../data/approvals";
import { lobby } from "../data/lobby";
import { spoken } from "../data/notices";
import { isDark, setPrefs } from "../data/prefs";
import { useKeys } from "../data/keys";
import { useSelect, useStore } from "../data/store";
import { toast } from "../data/toasts";
import { t, useLang } from "../i18n";
import { SessionsScreen } from "../screens/sessions/screen";
import { SessionScreen } from "../screens/session/screen";
import { Banner } from "../ui/surface";
import { Button } from "../ui/controls";
import { useWide } from "../ui/wide";
import { Coming, later, outdated, Spare, Whole } from "./later";
import { Nav } from "./nav";
import { NotFound } from "./not-found";
import { closeSheet, openHelp, openNew, openPalette, sheet } from "./open";
import { Toasts } from "./toasts";

const NewSessionDialog = later(() => import("./new-session"));
const Palette = later(() => import("./palette"));
const HelpSheet = later(() => import("./help"));
const Asks = later(() => import("./asks"));
const InboxScreen = later(() => import("../screens/inbox/screen"));
const CockpitScreen = later(() => import("../screens/cockpit/screen"));
const SettingsScreen = later(() => import("../screens/settings/screen"));
const ChatScreen = later(() => import("../screens/chat/screen"));

export function App(): ReactNode {
  const lang = useLang();
  const [path, go] = useLocation();
  const wide = useWide(); // a phone has no keys, and its inbox is one touch away
  const asked = useSelect(approvals, (a) => a.list.length > 0) && wide && /^\/(cockpit|settings)/.test(path);
  useKeys({
    sessions: () => go("/"),
    inbox: () => go("/inbox"),
    cockpit: () => go("/cockpit"),
    settings: () => go("/settings"),
    palette: () => openPalette(),
    new: () => openNew(),
    help: () => openHelp(),
    theme: () => setPrefs({ theme: isDark() ? "light" : "dark" }),
  }, true, "app");
  useEffect(() => {
    document.title = document.title.replace(/^((?:\(\d+\) )?).*$/, `$1Harness`);
  }, [path]);
  return (
    <div key={lang} className="flex h-dvh flex-col-reverse sm:flex-row">
      <Nav />
      <main className="flex min-h-0 min-w-0 flex-1 flex-col">
        <Lost />
        <Whole key={path.split("/")[1]} at={path} fallback={<Coming />}>
          <Switch>
            <Route path="/" component={SessionsScreen} />
            <Route path="/inbox" component={InboxScreen} />
            <Route path="/cockpit" component={CockpitScreen} />
            <Route path="/settings/:section?" component={SettingsScreen} />
            <Route path="/chat/:id">{(p) => <ChatScreen key={p.id} id={p.id} />}</Route>
            <Route path="/s/:id/at/:seq">{(p) => <SessionScreen key={p.id} id={p.id} at={Number(p.seq)} view="chat" />}</Route>
            <Route path="/s/:id/:view?">{(p) => <SessionScreen key={p.id} id={p.id} view={p.view ?? "chat"} />}</Route>
            <Route><NotFound /></Route>
          </Switch>
        </Whole>
        {asked && <Spare><Asks /></Spare>}
      </main>
      <Sheet />
      <Toasts />
      <Announcer />
    </div>
  );
}

function Sheet(): ReactNode {
  const open = useStore(sheet);
  return <Spare at={open} onBroken={() => (closeSheet(), toast(t("broken.title"), "bad"))}>{open === "new" ? <NewSessionDialog /> : open === "palette" ? <Palette /> : open === "help" ? <HelpSheet /> : null}</Spare>;
}

/** Says when what is shown, or the page itself, may be old. */
function Lost(): ReactNode {
  const phase = useSelect(lobby, (l) => l.phase), old = useStore(outdated);
  if (phase === "closed") {
    return <Banner tone="bad" actions={<Button size="sm" onClick={() => location.assign("/login")}>{t("login.again")}</Button>}>{t("login.ended")}</Banner>;
  }
  if (phase === "reconnecting") return <div role="status" data-testid="lost"><Banner tone="warn">{t("connection.lost")}</Banner></div>;
  if (old) return <div role="status" data-testid="outdated"><Banner tone="warn" actions={<Button size="sm" onClick={() => location.reload()}>{t("broken.again")}</Button>}>{t("broken.old")}</Banner></div>;
  return null;
}

function Announcer(): ReactNode {
  return <div role="status" aria-live="polite" className="sr-only">{useStore(spoken)}</div>;
}
