import { type ReactNode, useState } from "react";

import { api, type Detail, messageOf } from "../../data/api";
import { t } from "../../i18n/more";
import { Output } from "../../ui/ansi";
import { Button } from "../../ui/controls";
import * as I from "../../ui/icons";
import { Chip } from "../../ui/status";
import { Empty } from "../../ui/surface";
import { Ago, number } from "../../ui/time";
import { useLive } from "./live";

type Artifact = Detail["artifacts"][number];

export default function Artifacts(): ReactNode {
  const { detail } = useLive();
  const list = detail?.artifacts ?? [];
  if (detail === undefined) return <p aria-busy="true" className="flex-1 p-6 text-sm text-faint">{t("loading")}</p>;
  if (list.length === 0) return <div className="flex-1 overflow-y-auto"><Empty icon={<I.Box size={20} />} title={t("artifacts.none")}>{t("artifacts.none.text")}</Empty></div>;
  return (
    <div className="min-h-0 flex-1 overflow-y-auto p-4" tabIndex={0} role="group" aria-label={t("tab.artifacts")}>
      <ul className="mx-auto max-w-4xl space-y-3">{[...list].reverse().map((a) => <One key={a.artifact_id} artifact={a} />)}</ul>
    </div>
  );
}

/** The largest text that is shown here; more is to be downloaded. */
const most = 2_000_000;

function One({ artifact: a }: { readonly artifact: Artifact }): ReactNode {
  const [text, setText] = useState<string>();
  const [error, setError] = useState("");
  const look = async () => {
    if (text !== undefined) return setText(undefined);
    try {
      const bytes = await api.artifact(a.artifact_id);
      setText(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
      setError("");
    } catch (e) {
      setError(e instanceof TypeError ? t("artifacts.binary") : messageOf(e));
    }
  };
  return (
    <li className="rounded-xl border border-line bg-panel">
      <div className="flex flex-wrap items-center gap-3 px-4 py-3">
        <I.Box size={15} className="text-faint" />
        <span className="min-w-0 flex-1 basis-40 truncate text-sm font-medium">{a.title === "" ? a.artifact_id : a.title}</span>
        <Chip>{a.artifact_type}</Chip>
        {a.size !== undefined && <span className="num text-xs text-faint">{t("artifacts.bytes", { n: number(a.size) })}</span>}
        <span className="text-xs text-faint"><Ago at={a.updated_at} /></span>
        {(a.size ?? 0) <= most && <Button size="sm" onClick={() => void look()}><I.Eye size={12} />{text === undefined ? t("artifacts.show") : t("artifacts.hide")}</Button>}
        <a href={`/artifacts/${encodeURIComponent(a.artifact_id)}`} download aria-label={t("artifacts.download", { title: a.title })} className="grid size-7 place-items-center rounded-lg text-quiet hover:bg-sunken hover:text-ink"><I.Download size={14} /></a>
      </div>
      {error !== "" && <p role="alert" className="px-4 pb-3 text-sm text-bad">{error}</p>}
      {text !== undefined && <div className="px-3 pb-3"><Output text={text} lines={40} /></div>}
    </li>
  );
}
