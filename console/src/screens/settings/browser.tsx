import { type ReactNode, useState } from "react";

import { show } from "../../data/notices";
import { isQuiet, setPrefs, usePref } from "../../data/prefs";
import { languages } from "../../i18n";
import { t } from "../../i18n/more";
import { Button, Choice, Switch } from "../../ui/controls";
import * as I from "../../ui/icons";
import { Chip } from "../../ui/status";
import { Panel } from "../../ui/surface";
import { Hooks } from "./hooks";

const timeClass = "num h-8 rounded-lg border border-edge bg-panel px-2 text-sm text-ink";

export function Appearance(): ReactNode {
  const theme = usePref("theme"), lang = usePref("lang"), debug = usePref("debug");
  return (
    <>
      <Panel title={t("settings.theme")}>
        <Choice label={t("settings.theme")} value={theme} onChange={(v) => setPrefs({ theme: v })} options={[{ value: "system", label: t("settings.theme.system") }, { value: "light", label: <><I.Sun size={13} />{t("settings.theme.light")}</> }, { value: "dark", label: <><I.Moon size={13} />{t("settings.theme.dark")}</> }]} />
      </Panel>
      <Panel title={t("settings.language")}>
        <div data-user><Choice label={t("settings.language")} value={lang} onChange={(v) => setPrefs({ lang: v })} options={languages} /></div>
      </Panel>
      <Panel title={t("settings.detail")}>
        <Switch label={t("side.debug")} hint={t("settings.debug.what")} checked={debug} onChange={(v) => setPrefs({ debug: v })} />
      </Panel>
    </>
  );
}

export function Notifications(): ReactNode {
  const notify = usePref("notify"), sound = usePref("sound"), quiet = usePref("quiet");
  const [said, setSaid] = useState("");
  const possible = typeof Notification !== "undefined";
  const wish = async (on: boolean) => {
    if (on && possible && Notification.permission !== "granted") {
      const got = await Notification.requestPermission();
      if (got !== "granted") return setSaid(t("notify.refused"));
    }
    setPrefs({ notify: on });
    setSaid("");
  };
  return (
    <>
    <Panel title={t("notify.here")}>
      {!possible && <p className="text-sm text-warn">{t("notify.impossible")}</p>}
      <Switch label={t("notify.on")} hint={t("notify.on.what")} checked={notify} onChange={(v) => void wish(v)} />
      <Switch label={t("notify.sound")} checked={sound} onChange={(v) => setPrefs({ sound: v })} />
      <Switch label={t("notify.quiet")} hint={t("notify.quiet.what")} checked={quiet.on} onChange={(on) => setPrefs({ quiet: { ...quiet, on } })} />
      {quiet.on && (
        <div className="flex flex-wrap items-center gap-2 ps-12 text-sm text-quiet">
          <label className="flex items-center gap-2">{t("notify.quiet.from")}<input type="time" name="quiet-from" required value={quiet.from} onChange={(e) => e.target.value !== "" && setPrefs({ quiet: { ...quiet, from: e.target.value } })} className={timeClass} /></label>
          <label className="flex items-center gap-2">{t("notify.quiet.to")}<input type="time" name="quiet-to" required value={quiet.to} onChange={(e) => e.target.value !== "" && setPrefs({ quiet: { ...quiet, to: e.target.value } })} className={timeClass} /></label>
          {isQuiet(quiet, new Date()) && <Chip tone="mark">{t("notify.quiet.now")}</Chip>}
        </div>
      )}
      <div className="mt-3 flex items-center gap-3">
        <Button onClick={() => setSaid(show("Harness", t("notify.test.text")) ? t("notify.sent") : t("notify.refused"))}><I.Bell size={13} />{t("notify.test")}</Button>
        <span role="status" className="text-sm text-quiet">{said}</span>
      </div>
    </Panel>
    <Hooks />
    </>
  );
}
