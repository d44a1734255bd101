import { type ReactNode, useState } from "react";

import { api, messageOf } from "../../data/api";
import { toast } from "../../data/toasts";
import { t } from "../../i18n/more";
import { useLive } from "./live";

const efforts = ["low", "medium", "high", "max"] as const;
const look = "h-7 rounded-md bg-transparent px-1.5 text-xs text-quiet hover:bg-sunken";

/** With which model the next turns run, and how hard it thinks. */
export default function How(): ReactNode {
  const { id, detail } = useLive();
  const [model, setModel] = useState<string>();
  if (detail === undefined) return null;
  const lacks = (name: string) => detail.lacks?.settings?.includes(name) === true;
  const { model: now = "", think_level: effort = "" } = detail.config;
  const set = (change: { readonly model?: string; readonly think_level?: string }) => void api.configure(id, change).then(() => toast(t("how.changed"), "ok"), (e: unknown) => toast(messageOf(e), "bad"));
  const save = () => {
    setModel(undefined);
    if (model !== undefined && model.trim() !== now) set({ model: model.trim() });
  };
  return (
    <div className="flex min-w-0 items-center gap-1 max-sm:hidden">
      {lacks("model") ? null : model !== undefined ? (
        <input autoFocus aria-label={t("how.model")} placeholder={t("how.usual")} value={model} maxLength={128} onChange={(e) => setModel(e.target.value)} onBlur={save} onKeyDown={(e) => (e.key === "Enter" ? save() : e.key === "Escape" && (e.preventDefault(), setModel(undefined)))} className="h-7 w-44 rounded-md border border-edge bg-ground px-1.5 text-xs" />
      ) : (
        <button type="button" title={t("how.model")} onClick={() => setModel(now)} className={`${look} max-w-44 truncate`}>{now === "" ? t("how.usual") : now}</button>
      )}
      {!lacks("think_level") && (
        <select aria-label={t("how.effort")} value={effort} onChange={(e) => set({ think_level: e.target.value })} className={look}>
          {effort === "" && <option value="">{t("how.effort")}</option>}
          {efforts.map((e) => <option key={e} value={e}>{t(`how.${e}`)}</option>)}
        </select>
      )}
    </div>
  );
}
