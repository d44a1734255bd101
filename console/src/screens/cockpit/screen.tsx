import type { ReactNode } from "react";

import { t } from "../../i18n";
import { Empty } from "../../ui/surface";

export default function Screen(): ReactNode {
  return <Empty title={t("nav.cockpit")} />;
}
