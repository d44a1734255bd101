import { type ReactNode, Suspense, useEffect, useMemo, useRef, useState } from "react";
import { Link, useLocation } from "wouter";

import { api, messageOf } from "../../data/api";
import { useKeys } from "../../data/keys";
import { titleOf } from "../../data/notices";
import { prefs, setPrefs, usePref } from "../../data/prefs";
import { toast } from "../../data/toasts";
import { type Key, t } from "../../i18n";
import { Coming, later, Spare } from "../../shell/later";
import { NotFound } from "../../shell/not-found";
import { type Entry, useCommands } from "../../shell/open";
import { Button, IconButton } from "../../ui/controls";
import * as I from "../../ui/icons";
import { Menu } from "../../ui/menu";
import { Chip, Score, StatusBadge } from "../../ui/status";
import { Banner, Dialog } from "../../ui/surface";
import { money } from "../../ui/time";
import { useWide } from "../../ui/wide";
import { Approvals } from "./approvals";
import { Chat } from "./chat";
import { Composer } from "./composer";
import { LiveSession, useClient, useConnection, useHarness, useLive, useStatus } from "./live";

const Side = later(() => import("./side"));
const SideBody = later(async () => ({ default: (await import("./side")).SideBody }));
const BranchDialog = later(() => import("./branch"));
const RewindDialog = later(() => import("./rewind"));
const Past = later(() => import("./past"));
const Timeline = later(() => import("./timeline"));
const Changes = later(() => import("./changes"));
const TreeView = later(() => import("./tree"));
const Artifacts = later(() => import("./artifacts"));
const Inspect = later(() => import("./inspect"));

const views = ["chat", "timeline", "changes", "tree", "artifacts", "inspect"] as const;
type View = (typeof views)[number];
const icons: Record<View, (p: { readonly size?: number }) => ReactNode> = { chat: I.Chat, timeline: I.Lanes, changes: I.Diff, tree: I.Tree, artifacts: I.Box, inspect: I.Bug };

/** A session: as it is, or as it was at an event. */
export function SessionScreen({ id, view, at }: { readonly id: string; readonly view: string; readonly at?: number }): ReactNode {
  if (!(views as readonly string[]).includes(view) || Number.isNaN(at)) return <NotFound />;
  return (
    <LiveSession id={id}>
      <Shown id={id} view={view as View} at={at} />
    </LiveSession>
  );
}

function Shown({ id, view, at }: { readonly id: string; readonly view: View; readonly at: number | undefined }): ReactNode {
  const { row, detail, shown } = useLive();
  const connection = useConnection();
  const status = useStatus();
  const [, go] = useLocation();
  const [branching, setBranching] = useState<{ readonly from?: string }>();
  const [rewinding, setRewinding] = useState<string>();
  const [deleting, setDeleting] = useState(false);
  const [sheet, setSheet] = useState(false);
  const tab = useRef<HTMLAnchorElement>(null);
  useEffect(() => void tab.current?.scrollIntoView({ block: "nearest", inline: "center" }), [view, at]);
  const side = usePref("side"), room = useWide("lg");
  const known = row !== undefined || detail !== undefined;
  const title = known ? titleOf(row ?? detail) : "…";
  const path = `/s/${encodeURIComponent(id)}`;
  const running = status === "running" || status === "awaiting_approval" || status === "queued" || status === "recovering";
  const escaped = useRef(0);

  const act = (what: Promise<unknown>, done?: string) => what.then(() => done !== undefined && toast(done, "ok"), (e: unknown) => toast(messageOf(e), "bad"));
  const client = useClient();
  const stop = () => void act(client.send({ type: "cancel" }), t("session.stopping"));
  const pause = () => void act(status === "paused" ? api.resume(id) : api.pause(id), status === "paused" ? t("session.resumed") : t("session.pausing"));

  useKeys({
    ...Object.fromEntries(views.map((v) => [v, () => go(v === "chat" ? path : `${path}/${v}`)])),
    pause,
    branch: () => setBranching({}),
    debug: () => setPrefs({ debug: !prefs.get().debug }),
    Escape: () => {
      if (!running) return false;
      if (Date.now() - escaped.current < 800) {
        escaped.current = 0;
        stop();
      } else {
        escaped.current = Date.now();
        toast(t("session.escape"));
      }
    },
  });

  const commands = useMemo<readonly Entry[]>(
    () => [
      ...views.map((v) => ({ id: `view-${v}`, label: t(`tab.${v}`), action: v, icon: icons[v]({}), run: () => go(v === "chat" ? path : `${path}/${v}`) })),
      ...(running ? [{ id: "stop", label: t("session.stop"), hint: "Esc Esc", icon: <I.Stop />, run: stop }] : []),
      { id: "pause", label: status === "paused" ? t("session.resume") : t("session.pause"), action: "pause" as const, icon: <I.Pause />, run: pause },
      { id: "branch", label: t("branch.title"), action: "branch" as const, icon: <I.Branch />, run: () => setBranching({}) },
      { id: "assistant-ui", label: t("session.chatview"), icon: <I.External />, run: () => go(`/chat/${encodeURIComponent(id)}`) },
      { id: "export", label: t("session.export"), icon: <I.Download />, run: () => location.assign(`/sessions/${encodeURIComponent(id)}/export`) },
    ],
    [id, running, status],
  );
  useCommands(commands);
  useEffect(() => {
    document.title = document.title.replace(/^((?:\(\d+\) )?).*$/, (_, n: string) => `${n}${title} · Harness`);
  }, [title]);

  if (connection.phase === "closed" && connection.reason?.code === "not_found") {
    return <NotFound title={t("session.gone")} />;
  }
  const cost = detail?.health?.budget.cost_usd;
  const context = detail?.health?.budget.context_usage_pct;
  const lacks = [...(detail?.lacks?.commands ?? []), ...(detail?.lacks?.settings ?? []), ...(detail?.lacks?.events ?? [])];
  const bridge = lacks.length > 0 || (detail?.engine !== "native" && detail?.health?.flags.some((f) => f.code === "low_fidelity") === true);

  return (
    <>
      <header className="border-b border-line bg-panel">
        <div className="flex items-center gap-2 px-3 pt-2 sm:px-5">
          <Link href="/" aria-label={t("nav.sessions")} className="-ms-1 grid size-8 shrink-0 place-items-center rounded-lg text-quiet hover:bg-sunken hover:text-ink"><I.Back /></Link>
          <Title id={id} title={title} />
          {known && <StatusBadge status={status} />}
          {bridge && <span data-testid="bridge" className="max-sm:hidden"><Chip title={[t("session.bridge.what"), ...lacks].join("\n")}>{t("session.bridge")}</Chip></span>}
          <span className="flex-1" />
          {row?.health !== undefined && <span className="md:hidden"><Score score={row.health.score} grade={row.health.grade} /></span>}
          <div className="hidden items-center gap-3 text-xs text-quiet md:flex">
            {detail?.engine !== undefined && <span className="text-faint">{[detail.engine, detail.config.model].filter(Boolean).join(" · ")}</span>}
            {detail?.health !== undefined && <Score score={detail.health.score} grade={detail.health.grade} />}
            {cost !== undefined && cost.used > 0 && <span className="num">{money(cost.used)}</span>}
            {context !== undefined && context.unknown !== true && context.used > 0 && <span className="num">{t("session.context", { n: Math.round(context.used) })}</span>}
          </div>
          <Line />
        </div>
        <div className="flex items-center gap-1 px-2 sm:px-4">
          <nav aria-label={t("session.views")} className="-mb-px flex min-w-0 overflow-x-auto max-sm:pe-8 max-sm:[mask-image:linear-gradient(to_right,black_calc(100%-2rem),transparent)] max-sm:[scrollbar-width:none]">
            {views.map((v) => {
              const Icon = icons[v];
              const here = v === view && at === undefined;
              return (
                <Link key={v} ref={here ? tab : undefined} href={v === "chat" ? path : `${path}/${v}`} aria-current={here ? "page" : undefined} className={`flex h-10 items-center gap-1.5 border-b-2 px-2 text-sm sm:px-2.5 whitespace-nowrap ${here ? "border-mark font-medium text-ink" : "border-transparent text-quiet hover:text-ink"}`}>
                  <span className="max-sm:hidden"><Icon size={14} /></span>
                  {t(`tab.${v}` as Key)}
                  {v === "changes" && row?.changes !== undefined && <span className="num text-2xs text-faint">{row.changes.files}</span>}
                  {v === "artifacts" && (detail?.artifacts.length ?? 0) > 0 && <span className="num text-2xs text-faint">{detail!.artifacts.length}</span>}
                </Link>
              );
            })}
          </nav>
          <span className="flex-1" />
          {running && <Button size="sm" tone="danger" onClick={stop} title="Esc Esc"><I.Stop size={11} /><span className="max-sm:sr-only">{t("session.stop")}</span></Button>}
          <IconButton label={status === "paused" ? t("session.resume") : t("session.pause")} className="max-sm:hidden" onClick={pause}>{status === "paused" ? <I.Play size={15} /> : <I.Pause size={15} />}</IconButton>
          <IconButton label={t("branch.title")} className="max-sm:hidden" onClick={() => setBranching({})}><I.Branch size={15} /></IconButton>
          <IconButton label={t("session.side")} aria-pressed={side} className="max-lg:hidden" onClick={() => setPrefs({ side: !side })}><I.Side size={15} /></IconButton>
          <Menu
            label={t("session.more")}
            items={[
              { id: "side", label: t("session.side"), icon: <I.Heart />, className: "lg:hidden", run: () => setSheet(true) },
              { id: "pause", label: status === "paused" ? t("session.resume") : t("session.pause"), icon: status === "paused" ? <I.Play /> : <I.Pause />, run: pause },
              { id: "branch", label: t("branch.title"), icon: <I.Branch />, run: () => setBranching({}) },
              { id: "chat", label: t("session.chatview"), icon: <I.External />, run: () => go(`/chat/${encodeURIComponent(id)}`) },
              { id: "export", label: t("session.export"), icon: <I.Download />, run: () => location.assign(`/sessions/${encodeURIComponent(id)}/export`) },
              { id: "delete", label: t("session.delete"), icon: <I.Close />, danger: true, run: () => setDeleting(true) },
            ]}
          />
        </div>
      </header>
      <Trouble />
      <div className="flex min-h-0 flex-1">
        <div className="flex min-h-0 min-w-0 flex-1 flex-col">
          {at !== undefined ? (
            <Suspense><Past id={id} at={at} onBranch={(from) => setBranching({ from })} /></Suspense>
          ) : (
            <>
              <Suspense fallback={<Coming />}>
                {view === "chat" && <Chat onRewind={setRewinding} onBranch={(from) => setBranching({ from })} />}
                {view === "timeline" && <Timeline id={id} />}
                {view === "changes" && <Changes id={id} onRewind={setRewinding} />}
                {view === "tree" && <TreeView id={id} onBranch={(from) => setBranching({ from })} />}
                {view === "artifacts" && <Artifacts />}
                {view === "inspect" && <Inspect id={id} onBranch={(from) => setBranching({ from })} />}
              </Suspense>
              <Approvals />
              {view === "chat" && <Composer />}
            </>
          )}
        </div>
        {side && room && view !== "inspect" && view !== "timeline" && at === undefined && <Spare fallback={<Beside />}>{shown ? <Side onBranch={(from) => setBranching({ from })} /> : <Beside />}</Spare>}
      </div>
      <Spare at={`${branching !== undefined} ${sheet} ${rewinding}`} onBroken={() => (setBranching(undefined), setSheet(false), setRewinding(undefined), toast(t("broken.title"), "bad"))}>
        {branching !== undefined && <BranchDialog id={id} title={title} from={branching.from} onClose={() => setBranching(undefined)} />}
        {sheet && <Dialog title={t("session.side")} open onClose={() => setSheet(false)}><div className="-mx-5 -my-4"><SideBody onBranch={(from) => (setSheet(false), setBranching({ from }))} /></div></Dialog>}
        {deleting && (
          <Dialog title={t("session.delete")} open onClose={() => setDeleting(false)} footer={<><Button onClick={() => setDeleting(false)}>{t("cancel")}</Button><Button tone="danger" onClick={() => void act(api.remove(id).then(() => go("/")), t("session.deleted"))}>{t("session.delete")}</Button></>}>
            <p className="text-sm text-quiet">{t("session.delete.what", { title })}</p>
          </Dialog>
        )}
        {rewinding !== undefined && <RewindDialog id={id} message={rewinding} onClose={() => setRewinding(undefined)} />}
      </Spare>
    </>
  );
}

/** Room for what is on its way. */
function Beside(): ReactNode {
  return <div aria-busy="true" className="w-80 shrink-0 border-s border-line bg-panel" />;
}

/** The title, which becomes a field where it is clicked. */
function Title({ id, title }: { readonly id: string; readonly title: string }): ReactNode {
  const [edit, setEdit] = useState<string>();
  const save = () => {
    const next = edit?.trim() ?? "";
    setEdit(undefined);
    if (next !== "" && next !== title) api.configure(id, { title: next }).catch((e: unknown) => toast(messageOf(e), "bad"));
  };
  if (edit !== undefined) {
    return <input autoFocus aria-label={t("session.title")} value={edit} maxLength={200} onChange={(e) => setEdit(e.target.value)} onBlur={save} onKeyDown={(e) => (e.key === "Enter" ? save() : e.key === "Escape" && (e.preventDefault(), setEdit(undefined)))} className="h-7 min-w-0 flex-1 rounded-md border border-edge bg-ground px-2 text-lg font-semibold" />;
  }
  return <h1 data-user className="min-w-0 truncate text-lg font-semibold tracking-tight"><button type="button" title={t("session.rename")} onClick={() => setEdit(title)} className="max-w-full truncate align-bottom">{title}</button></h1>;
}

/** Where the line to this session stands; always to be seen. */
function Line(): ReactNode {
  const { phase } = useConnection();
  const look = {
    open: ["bg-ok", "text-ok"],
    connecting: ["bg-warn breathe", "text-warn"],
    stale: ["bg-warn", "text-warn"],
    reconnecting: ["bg-warn breathe", "text-warn"],
    closed: ["bg-bad", "text-bad"],
  }[phase];
  return (
    <span data-testid="line" data-phase={phase} className={`inline-flex items-center gap-1.5 text-xs font-medium whitespace-nowrap ${look[1]}`}>
      <span className={`size-2 rounded-full ${look[0]}`} />
      <span className="max-sm:sr-only">{t(`line.${phase}`)}</span>
    </span>
  );
}

/** What went wrong, with a way on. */
function Trouble(): ReactNode {
  const error = useHarness((s) => s.error ?? undefined);
  const { id, detail } = useLive();
  const status = useStatus();
  const client = useClient();
  if (status === "paused") {
    return <Banner tone="info" actions={<Button size="sm" onClick={() => void api.resume(id).catch((e: unknown) => toast(messageOf(e), "bad"))}><I.Play size={12} />{t("session.resume")}</Button>}>{t("session.paused")}{detail?.reason !== undefined && detail.reason !== "user" ? ` (${detail.reason})` : ""}</Banner>;
  }
  if (error === undefined || error === "") return null;
  const hint = detail?.health?.recovery_hint;
  return (
    <Banner tone="bad" actions={<Button size="sm" onClick={() => void client.send({ type: "resume", sessionId: id, prompt: t("session.retry.prompt") }).catch((e: unknown) => toast(messageOf(e), "bad"))}><I.Rewind size={12} />{t("session.retry")}</Button>}>
      <span className="font-medium">{t("session.failed")}</span> <span className="[overflow-wrap:anywhere]">{error[0]!.toUpperCase() + error.slice(1)}</span>
      {hint !== undefined && hint.action !== "none" && <span className="block text-xs">{hint.text}</span>}
    </Banner>
  );
}
