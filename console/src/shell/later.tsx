import { Component, type ComponentType, lazy, type LazyExoticComponent, type ReactNode, Suspense } from "react";

import { again } from "../data/again";
import { lobby } from "../data/lobby";
import { createStore } from "../data/store";
import { t } from "../i18n";
import { Button } from "../ui/controls";
import * as I from "../ui/icons";
import { Empty } from "../ui/surface";

const pause = 1000;

/** Whether the server has another build of the page than this; parts of this one are not to be had any more. */
export const outdated = createStore(false);

async function look(): Promise<void> {
  const answer = await fetch(import.meta.url, { method: "HEAD", cache: "no-store" });
  outdated.set(answer.status === 404);
}

/** A part that is fetched when it is first wanted, more than once if need be; without a connection, until there is one. */
export function later<P>(load: () => Promise<{ readonly default: ComponentType<P> }>): LazyExoticComponent<ComponentType<P>> {
  const ask = async (): Promise<{ readonly default: ComponentType<P> }> => {
    try {
      return await again(load);
    } catch (e) {
      if (lobby.get().phase === "open") {
        await look().catch(() => undefined);
        throw e;
      }
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

interface Bounds {
  readonly children: ReactNode;
  /** Stands for what is on its way. */
  readonly fallback?: ReactNode;
  /** Somewhere else it is tried again. */
  readonly at?: string;
  readonly onBroken?: () => void;
}

/** What cannot be shown is missing, and takes nothing else with it. */
export class Spare extends Component<Bounds, { readonly broken: boolean }> {
  override state = { broken: false };
  static getDerivedStateFromError(): { readonly broken: boolean } {
    return { broken: true };
  }
  override componentDidCatch(): void {
    this.props.onBroken?.();
  }
  override componentDidUpdate(before: Bounds): void {
    if (this.state.broken && before.at !== this.props.at) this.setState({ broken: false });
  }
  protected instead(): ReactNode {
    return null;
  }
  override render(): ReactNode {
    return this.state.broken ? this.instead() : <Suspense fallback={this.props.fallback}>{this.props.children}</Suspense>;
  }
}

/** What is left of a screen that could not be shown: words, and a way on. The rest of the page stays. */
export class Whole extends Spare {
  protected override instead(): ReactNode {
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
