import { type ReactNode, useState } from "react";

import { t } from "../i18n";
import { IconButton } from "./controls";
import * as I from "./icons";

export function CopyButton({ text, bare = false }: { readonly text: string; readonly bare?: boolean }): ReactNode {
  const [done, setDone] = useState(false);
  return (
    <IconButton
      label={done ? t("copied") : t("copy")}
      className={`!size-7 pointer-coarse:!size-10 ${bare ? "" : "bg-panel"}`}
      onClick={() => void navigator.clipboard.writeText(text).then(() => (setDone(true), setTimeout(() => setDone(false), 1500)))}
    >
      {done ? <I.Check size={13} /> : <I.Copy size={13} />}
    </IconButton>
  );
}
