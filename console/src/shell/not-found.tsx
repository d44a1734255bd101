import type { ReactNode } from "react";
import { Link, useLocation } from "wouter";

import { useKeyNames } from "../data/bindings";
import { t } from "../i18n";
import { Button } from "../ui/controls";
import * as I from "../ui/icons";
import { Empty } from "../ui/surface";
import { openPalette } from "./open";

/** For an address that nothing is at: says so, and where one can go. */
export function NotFound({ title = t("nowhere") }: { readonly title?: string }): ReactNode {
  const [path] = useLocation();
  const key = useKeyNames();
  return (
    <div data-testid="not-found" className="flex flex-1 flex-col justify-center pb-20">
      <Empty icon={<I.Question size={20} />} title={title} page>
        <p data-user className="font-mono text-xs [overflow-wrap:anywhere]">{path}</p>
        <div className="mt-5 flex flex-wrap justify-center gap-2">
          <Link href="/" className="inline-flex h-8 pointer-coarse:h-11 items-center gap-1.5 rounded-lg bg-mark px-3 text-sm font-medium text-on-mark hover:opacity-90"><I.Sessions size={13} />{t("nowhere.sessions")}</Link>
          <Button onClick={openPalette} hotkey={key("palette")}><I.Search size={13} />{t("palette.title")}</Button>
        </div>
      </Empty>
    </div>
  );
}
