import { Component, type ComponentType, lazy, type LazyExoticComponent, type ReactNode } from "react";

import { again } from "../data/again";
import { lobby } from "../data/lobby";
import { t } from "../i18n";
import { Button } from "../ui/controls";
import * as I from "../ui/icons";
import { Empty } from "../ui/surface";

const pause = 1000;

/** A part that is fetched when it is first wanted, more than once if need be; without a connection, until there is one. */
export function later<P>(load: () => Promise<{ readonly default: ComponentType<P> }>): LazyExoticComponent<ComponentType<P>> {
  const ask = async (): Promise<{ readonly default: ComponentType<P> }> => {
    try {
      return await again(load);
    } catch (e) {
      if (lobby.get().phase === "open") throw e;
      await new Promise((r) => setTimeout(r, pause));
      return ask();
    }
  };
  return lazy(ask);
}

/** Stands for a part that is on its way. */
export function Coming(): ReactNode {
  return <p aria-busy="true" className="flex-1 p-6 text-sm text-faint">{t("loading")}</p>;
}

/** What is left of a screen that could not be shown: words, and a way on. The rest of the page stays. */
export class Whole extends Component<{ readonly children: ReactNode }, { readonly broken: boolean }> {
  override state = { broken: false };
  static getDerivedStateFromError(): { readonly broken: boolean } {
    return { broken: true };
  }
  override render(): ReactNode {
    if (!this.state.broken) return this.props.children;
    return (
      <div data-testid="broken" className="flex flex-1 flex-col justify-center pb-20">
        <Empty icon={<I.Warning size={20} />} title={t("broken.title")} page>
          <p>{t("broken.text")}</p>
          <div className="mt-5"><Button tone="primary" onClick={() => location.reload()}><I.Rewind size={13} />{t("broken.again")}</Button></div>
        </Empty>
      </div>
    );
  }
}
