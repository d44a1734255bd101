import { type ReactNode, useEffect, useState } from "react";

import { type About as Facts, api, type Engine, messageOf } from "../../data/api";
import { toast } from "../../data/toasts";
import { t } from "../../i18n/more";
import { Button } from "../../ui/controls";
import { CopyButton } from "../../ui/copy";
import * as I from "../../ui/icons";
import { Chip } from "../../ui/status";
import { Panel } from "../../ui/surface";
import { Tokens } from "./tokens";

function useFacts(): Facts | undefined {
  const [facts, setFacts] = useState<Facts>();
  useEffect(() => void api.about().then(setFacts, (e: unknown) => toast(messageOf(e), "bad")), []);
  return facts;
}

/** What the server runs turns with, and what each engine cannot do. */
export function Engines(): ReactNode {
  const facts = useFacts();
  const [engines, setEngines] = useState<readonly Engine[]>([]);
  useEffect(() => void api.engines().then((l) => setEngines(l.engines), (e: unknown) => toast(messageOf(e), "bad")), []);
  return (
    <>
    <Panel title={t("engines.now")}>
      <dl data-user aria-busy={facts === undefined} className="space-y-2 text-sm">
        <Line name={t("engines.engine")} value={facts?.engine ?? ""} />
        <Line name={t("engines.directory")} value={facts?.directory ?? ""} />
        {facts?.facts.map(([name, value]) => <Line key={name} name={name} value={value} />)}
      </dl>
    </Panel>
    <Panel title={t("settings.engines")}>
      <ul className="divide-y divide-line">
        {engines.map((e) => (
          <li key={e.engine} data-user className="py-2.5 text-sm">
            <p className="flex items-center gap-2 font-medium">{e.engine}{e.default && <Chip tone="mark">{t("engines.default")}</Chip>}</p>
            <p className="text-xs text-quiet">{t("engines.can", { events: e.events.length, commands: e.commands.join(", ") })}</p>
            <p className="text-xs text-faint">{lacking(e).length === 0 ? t("engines.all") : `${t("engines.lacks")} ${lacking(e).join(", ")}`}</p>
          </li>
        ))}
      </ul>
      <p className="mt-3 text-xs text-faint">{t("engines.how")}</p>
    </Panel>
    </>
  );
}

function lacking(e: Engine): readonly string[] {
  return [...(e.lacks?.commands ?? []), ...(e.lacks?.settings ?? []), ...(e.lacks?.events ?? [])];
}

function Line({ name, value }: { readonly name: string; readonly value: string }): ReactNode {
  return <div className="flex gap-4"><dt className="w-32 shrink-0 text-quiet first-letter:uppercase max-sm:w-24">{name}</dt><dd className="min-w-0 font-mono text-xs leading-5 [overflow-wrap:anywhere]">{value}</dd></div>;
}

/** Who one is here, and how to come in with another browser. */
export function Access(): ReactNode {
  const [who, setWho] = useState<{ readonly name: string; readonly user: string; readonly role: string }>();
  const [link, setLink] = useState("");
  useEffect(() => void api.whoami().then(setWho, () => undefined), []);
  const more = () => api.loginCode().then((c) => setLink(`${location.origin}/login#code=${c.code}`), (e: unknown) => toast(messageOf(e), "bad"));
  return (
    <>
      <Panel title={t("access.you")}>
        <dl data-user aria-busy={who === undefined} className="space-y-2 text-sm">
          <Line name={t("access.name")} value={who?.name ?? ""} />
          {who?.user !== undefined && who.user !== "" && <Line name={t("access.user")} value={who.user} />}
          <Line name={t("access.role")} value={who?.role ?? ""} />
        </dl>
        <div className="mt-4"><Button onClick={() => void api.logout().then(() => location.assign("/login"))}>{t("access.logout")}</Button></div>
      </Panel>
      <Panel title={t("access.more")}>
        <p className="text-sm text-quiet">{t("access.more.text")}</p>
        {link === "" ? <div className="mt-3"><Button onClick={() => void more()}><I.Plus size={13} />{t("access.link")}</Button></div> : (
          <div className="mt-3 flex items-center gap-2 rounded-lg border border-line bg-sunken px-3 py-2"><code className="min-w-0 flex-1 truncate font-mono text-xs">{link}</code><CopyButton text={link} /></div>
        )}
      </Panel>
      <Tokens />
    </>
  );
}

export function About(): ReactNode {
  const facts = useFacts();
  return (
    <Panel title={t("settings.about")}>
      <dl data-user aria-busy={facts === undefined} className="space-y-2 text-sm"><Line name="Harness" value={facts?.version ?? ""} /></dl>
      <ul className="mt-4 space-y-1 text-sm">
        <li><a className="text-mark hover:underline" href="/openapi.json">{t("about.api")}</a></li>
        <li><a className="text-mark hover:underline" href="/stream-events">{t("about.events")}</a></li>
      </ul>
    </Panel>
  );
}
