import type { ReactNode } from "react";

import { t } from "../../i18n";
import { Empty } from "../../ui/surface";

export default function ChatScreen({ id: _ }: { readonly id: string }): ReactNode {
  return <Empty title={t("session.chatview")} />;
}
