import { memo, type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";

import type { LogEvent } from "../../data/api";
import { usePref } from "../../data/prefs";
import { t } from "../../i18n/more";
import { duration, money } from "../../ui/time";
import { axisOf, ticksOf, windowOf, type Zoom } from "./axis";
import { type Lane, type Span, spansOf, spendingOf } from "./spans";

const height = 26, top = 8, foot = 20, font = "11px ui-sans-serif, system-ui, sans-serif";
const tones: Record<Lane, string> = { model: "mark", tool: "run", wait: "warn", agent: "ok", checkpoint: "quiet" };
const texts: Record<Lane, () => string> = { model: () => t("lane.model"), tool: () => t("lane.tool"), wait: () => t("lane.wait"), agent: () => t("lane.agent"), checkpoint: () => t("lane.checkpoint") };

interface Row { readonly lane: Lane | "cost"; readonly row: number; readonly name: string }

/** The rows that are drawn: those of every session, and of the others what there is. */
function rowsOf(spans: readonly Span[], cost: boolean): readonly Row[] {
  const agents = Math.max(0, ...spans.map((s) => (s.lane === "agent" ? s.row + 1 : 0)));
  const lanes: (Lane | "cost")[] = ["model", "tool", "wait", ...Array<Lane>(agents).fill("agent")];
  if (spans.some((s) => s.lane === "checkpoint")) lanes.push("checkpoint");
  if (cost) lanes.push("cost");
  return lanes.map((lane, i) => {
    const row = i - lanes.indexOf(lane);
    return { lane, row, name: row > 0 ? "" : lane === "cost" ? t("lane.cost") : texts[lane]() };
  });
}

/** How much room the longest of these takes. */
function widthOf(texts: readonly string[]): number {
  const g = document.createElement("canvas").getContext("2d")!;
  g.font = font;
  return Math.ceil(Math.max(...texts.map((s) => g.measureText(s).width)));
}

/** As much of a label as has room, in whole words and at least its first, or nothing. */
function fitting(g: CanvasRenderingContext2D, label: string, width: number): string {
  let text = label;
  while (g.measureText(text).width > width) {
    const cut = text.lastIndexOf(" ");
    if (cut < 0) return "";
    text = text.slice(0, cut);
  }
  return text;
}

/** Bars on one canvas, drawn once per change. The list below says the same in words. */
export const Lanes = memo(function Lanes({ events, began, zoom, live, selected, onSelect }: { readonly events: readonly LogEvent[]; readonly began: number; readonly zoom: Zoom; readonly live: boolean; readonly selected: number | undefined; readonly onSelect: (seq: number) => void }): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(800);
  const theme = usePref("theme");
  const spans = useMemo(() => spansOf(events), [events]);
  const spending = useMemo(() => spendingOf(events), [events]);
  const rows = useMemo(() => rowsOf(spans, spending.length > 0), [spans, spending]);
  const axis = useMemo(() => axisOf(spans), [spans]);
  const labels = useMemo(() => widthOf(rows.map((r) => r.name)) + 28, [rows]);
  const chosen = useMemo(() => (selected === undefined ? undefined : events.find((e) => e.seq === selected)), [events, selected]);
  const shown = windowOf(axis, zoom, chosen === undefined ? undefined : Date.parse(chosen.ts));
  const tall = rows.length * height + top + foot;
  useLayoutEffect(() => {
    const el = canvas.current!.parentElement!;
    const sizes = new ResizeObserver(() => setWidth(el.clientWidth));
    sizes.observe(el);
    return () => sizes.disconnect();
  }, []);
  const room = width - labels - 24, bottom = top + rows.length * height;
  const px = (place: number) => labels + ((place - shown.from) / shown.length) * room;
  const x = (at: number) => px(axis.place(at));
  const y = (s: Span) => top + rows.findIndex((r) => r.lane === s.lane && r.row === s.row) * height;
  useEffect(() => {
    if (room <= 0) return; // nothing is to be seen of it
    const c = canvas.current!, g = c.getContext("2d")!;
    const ratio = devicePixelRatio;
    c.width = width * ratio;
    c.height = tall * ratio;
    g.scale(ratio, ratio);
    const css = getComputedStyle(document.documentElement);
    const colours: Record<string, string> = {};
    const colour = (n: string) => (colours[n] ??= css.getPropertyValue(`--c-${n}`).trim());
    g.font = font;
    g.textBaseline = "middle";
    rows.forEach((r, i) => {
      g.fillStyle = colour("faint");
      g.fillText(r.name, 16, top + i * height + height / 2);
      g.fillStyle = colour("line");
      g.fillRect(labels, top + i * height + height - 1, room, 1);
    });
    g.textAlign = "center";
    let last = labels - 30;
    for (const tick of ticksOf(axis, began, (90 / room) * shown.length, shown)) {
      const at = x(tick.at);
      if (at < labels || at > width - 20) continue;
      const half = g.measureText(tick.text).width / 2;
      if (at - half < last + 12) continue;
      last = at + half;
      g.fillStyle = colour("line");
      g.fillRect(at, top, 1, rows.length * height + 3);
      g.fillStyle = colour("faint");
      g.fillText(tick.text, at, bottom + foot / 2 + 1);
    }
    g.save();
    g.beginPath();
    g.rect(labels, 0, room + 12, tall);
    g.clip();
    for (const gap of axis.gaps) {
      const at = px(gap.at);
      g.fillStyle = colour("sunken");
      g.fillRect(at - 1, top, 2, rows.length * height);
      g.fillStyle = colour("faint");
      g.fillText(`⋯ ${duration(gap.ms)} ⋯`, at, top + height / 2);
    }
    g.textAlign = "start";
    g.font = "10.5px ui-monospace, monospace";
    for (const s of spans) {
      const from = x(s.from), w = Math.max(2, x(s.to) - from), at = y(s) + 4;
      if (from > width || from + w < labels) continue;
      g.beginPath();
      if (s.lane === "checkpoint") {
        const mid = at + (height - 9) / 2;
        g.moveTo(from, mid - 5);
        for (const [dx, dy] of [[5, 0], [0, 5], [-5, 0]] as const) g.lineTo(from + dx, mid + dy);
      } else g.roundRect(from, at, w, height - 9, 3);
      g.fillStyle = colour("panel"); // nothing shines through
      g.fill();
      g.fillStyle = colour(s.bad ? "bad" : tones[s.lane]);
      g.globalAlpha = selected === undefined || selected === s.seq ? 0.9 : 0.55;
      g.fill();
      g.globalAlpha = 1;
      const left = Math.max(from, labels);
      if (from + w - left > 24 && s.label !== "" && s.lane !== "checkpoint") {
        g.fillStyle = colour("panel");
        g.fillText(fitting(g, s.label, from + w - left - 10), left + 5, at + (height - 9) / 2 + 0.5);
      }
    }
    const most = spending.at(-1)?.usd ?? 0;
    if (most > 0) {
      const floor = bottom - 1, high = (usd: number) => floor - (usd / most) * (height - 9);
      g.beginPath();
      g.moveTo(px(0), floor);
      let before = 0;
      for (const s of spending) {
        g.lineTo(x(s.at), high(before));
        g.lineTo(x(s.at), high((before = s.usd)));
      }
      g.lineTo(px(axis.length), high(before));
      g.lineTo(px(axis.length), floor);
      g.fillStyle = colour("mark-soft");
      g.fill();
      g.fillStyle = colour("ink");
      g.fillText(money(most), labels + 4, floor - height / 2 + 1);
    }
    if (live) {
      g.fillStyle = colour("ok");
      g.fillRect(px(axis.length) + 3, top, 1.5, rows.length * height);
    }
    if (chosen !== undefined && spans.length > 0) {
      g.fillStyle = colour("ink");
      g.fillRect(x(Date.parse(chosen.ts)), 2, 1.5, rows.length * height + top + 2);
    }
    g.restore();
  }, [spans, spending, rows, axis, began, width, zoom, live, selected, theme, chosen]);
  if (spans.length === 0) return <div className="hidden"><canvas ref={canvas} /></div>;
  return (
    <div className="border-b border-line bg-panel max-sm:hidden">
      <canvas
        ref={canvas}
        role="img"
        data-window={`${Math.round(shown.length)}`}
        aria-label={t("timeline.lanes", { n: spans.length })}
        className="block w-full cursor-pointer"
        style={{ height: tall }}
        onClick={(e) => {
          const box = e.currentTarget.getBoundingClientRect();
          const at = e.clientX - box.left, row = Math.floor((e.clientY - box.top - top) / height) * height + top;
          let best: Span | undefined, near = 30;
          for (const s of spans) {
            const d = (y(s) === row ? 0 : 12) + Math.max(0, x(s.from) - at, at - Math.max(x(s.to), x(s.from) + 2));
            if (d < near) [near, best] = [d, s];
          }
          if (best !== undefined) onSelect(best.seq);
        }}
      />
    </div>
  );
});
