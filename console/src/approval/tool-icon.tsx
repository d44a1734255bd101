import type { ReactNode } from "react";

import { toolKind } from "../data/risk";
import * as I from "../ui/icons";

const icons = { read: I.Eye, edit: I.Pencil, run: I.Terminal, net: I.Globe, agent: I.People, ask: I.Question, plan: I.Flag, other: I.Bolt };

export function ToolIcon({ tool, size = 14 }: { readonly tool: string; readonly size?: number }): ReactNode {
  const Icon = icons[toolKind(tool)];
  return <Icon size={size} />;
}
