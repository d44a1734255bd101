import { memo, type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";

import type { LogEvent } from "../../data/api";
import type { Fields } from "../../data/kinds";
import { usePref } from "../../data/prefs";
import { subjectOf } from "../../data/risk";
import { t } from "../../i18n/more";
import { duration } from "../../ui/time";

interface Span {
  readonly lane: 0 | 1 | 2;
  readonly from: number;
  readonly to: number;
  readonly seq: number;
  readonly label: string;
  readonly bad: boolean;
}

/** When the model wrote, tools ran and somebody was waited for, from the events at hand. */
export function spansOf(events: readonly LogEvent[]): readonly Span[] {
  const spans: Span[] = [];
  const calls = new Map<string, { at: number; seq: number; label: string }>();
  const asks = new Map<string, { at: number; seq: number; label: string }>();
  let model: { from: number; to: number; seq: number } | undefined;
  const written = () => {
    if (model !== undefined) spans.push({ lane: 0, ...model, label: "", bad: false });
    model = undefined;
  };
  for (const e of events) {
    const at = Date.parse(e.ts), p = (e.payload ?? {}) as Fields;
    switch (e.type) {
      case "token":
      case "thinking":
      case "response":
        if (model === undefined) model = { from: at, to: at, seq: e.seq };
        else model.to = at;
        break;
      case "tool_call":
        written();
        calls.set(String(p["tool_call_id"]), { at, seq: e.seq, label: `${String(p["name"])} ${subjectOf(String(p["name"]), p["arguments"])}` });
        break;
      case "tool_outcome": {
        const c = calls.get(String(p["tool_call_id"]));
        if (c !== undefined) spans.push({ lane: 1, from: Math.max(c.at, at - Number(p["elapsed_ms"] ?? 0)), to: at, seq: c.seq, label: c.label, bad: p["status"] !== "ok" && p["status"] !== "artifact" });
        break;
      }
      case "approval_required":
        asks.set(String(p["request_id"]), { at, seq: e.seq, label: String(p["tool_name"]) });
        break;
      case "approval_applied": {
        const a = asks.get(String(p["request_id"]));
        if (a !== undefined) spans.push({ lane: 2, from: a.at, to: at, seq: a.seq, label: a.label, bad: p["decision"] === "deny" });
        asks.delete(String(p["request_id"]));
        break;
      }
      case "turn_end":
        written();
        break;
    }
  }
  written();
  const end = events.length === 0 ? 0 : Date.parse(events.at(-1)!.ts);
  for (const a of asks.values()) spans.push({ lane: 2, from: a.at, to: Math.max(end, a.at + 1), seq: a.seq, label: a.label, bad: false });
  return spans;
}

/** Silence longer than this is drawn as a gap of this length. */
const fold = 4000;

/** Time without its long silences: a function from time to place, and where the gaps are. */
function axis(spans: readonly Span[]): { readonly place: (at: number) => number; readonly length: number; readonly gaps: readonly { readonly at: number; readonly ms: number }[] } {
  const edges = [...new Set(spans.flatMap((s) => [s.from, s.to]))].sort((a, b) => a - b);
  const busy = [...spans].sort((a, b) => a.from - b.from);
  const cuts: { from: number; to: number }[] = [];
  let until = edges[0] ?? 0;
  for (const s of busy) {
    if (s.from - until > fold) cuts.push({ from: until, to: s.from });
    until = Math.max(until, s.to);
  }
  for (const s of spans) if (s.lane === 2 && s.to - s.from > 5 * fold && !busy.some((o) => o !== s && o.from < s.to && o.to > s.from)) cuts.push({ from: s.from + fold, to: s.to - fold });
  cuts.sort((a, b) => a.from - b.from);
  const begin = edges[0] ?? 0, end = edges.at(-1) ?? 1;
  const place = (at: number) => {
    let x = at - begin;
    for (const c of cuts) {
      if (at >= c.to) x -= c.to - c.from - fold;
      else if (at > c.from) x -= (at - c.from) * (1 - fold / (c.to - c.from));
    }
    return x;
  };
  return { place, length: Math.max(1, place(end)), gaps: cuts.map((c) => ({ at: place(c.from) + fold / 2, ms: c.to - c.from })) };
}

const row = 26, top = 8, font = "11px ui-sans-serif, system-ui, sans-serif";

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
export const Lanes = memo(function Lanes({ events, selected, onSelect }: { readonly events: readonly LogEvent[]; readonly selected: number | undefined; readonly onSelect: (seq: number) => void }): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(800);
  const theme = usePref("theme");
  const spans = useMemo(() => spansOf(events), [events]);
  const scale = useMemo(() => axis(spans), [spans]);
  const names = [t("lane.model"), t("lane.tool"), t("lane.wait")];
  const labels = useMemo(() => widthOf(names) + 28, []); // another language is another page
  useLayoutEffect(() => {
    const el = canvas.current!.parentElement!;
    const sizes = new ResizeObserver(() => setWidth(el.clientWidth));
    sizes.observe(el);
    return () => sizes.disconnect();
  }, []);
  const x = (at: number) => labels + (scale.place(at) / scale.length) * (width - labels - 24);
  useEffect(() => {
    const c = canvas.current!, g = c.getContext("2d")!;
    const ratio = devicePixelRatio;
    c.width = width * ratio;
    c.height = (3 * row + 2 * top) * ratio;
    g.scale(ratio, ratio);
    const css = getComputedStyle(document.documentElement);
    const colours: Record<string, string> = {};
    const colour = (n: string) => (colours[n] ??= css.getPropertyValue(`--c-${n}`).trim());
    g.clearRect(0, 0, width, 200);
    g.font = font;
    g.textBaseline = "middle";
    names.forEach((n, i) => {
      g.fillStyle = colour("faint");
      g.fillText(n, 16, top + i * row + row / 2);
      g.fillStyle = colour("line");
      g.fillRect(labels, top + i * row + row - 1, width - labels - 24, 1);
    });
    for (const gap of scale.gaps) {
      const px = labels + (gap.at / scale.length) * (width - labels - 24);
      g.fillStyle = colour("sunken");
      g.fillRect(px - 1, top, 2, 3 * row);
      g.fillStyle = colour("faint");
      g.save();
      g.textAlign = "center";
      g.fillText(`⋯ ${duration(gap.ms)} ⋯`, px, top + row / 2);
      g.restore();
    }
    for (const s of spans) {
      const from = x(s.from), w = Math.max(2, x(s.to) - from), y = top + s.lane * row + 4;
      g.fillStyle = colour(s.bad ? "bad" : ["mark", "run", "warn"][s.lane]!);
      g.globalAlpha = selected === undefined || selected === s.seq ? 0.9 : 0.55;
      g.beginPath();
      g.roundRect(from, y, w, row - 9, 3);
      g.fill();
      g.globalAlpha = 1;
      if (w > 24 && s.label !== "") {
        g.save();
        g.fillStyle = colour("panel");
        g.font = "10.5px ui-monospace, monospace";
        g.fillText(fitting(g, s.label, w - 10), from + 5, y + (row - 9) / 2 + 0.5);
        g.restore();
      }
    }
    const chosen = selected === undefined ? undefined : events.find((e) => e.seq === selected);
    if (chosen !== undefined && spans.length > 0) {
      g.fillStyle = colour("ink");
      g.fillRect(x(Date.parse(chosen.ts)), 2, 1.5, 3 * row + top + 4);
    }
  }, [spans, scale, width, selected, theme, events]);
  if (spans.length === 0) return <div className="hidden"><canvas ref={canvas} /></div>;
  return (
    <div className="border-b border-line bg-panel max-sm:hidden">
      <canvas
        ref={canvas}
        role="img"
        aria-label={t("timeline.lanes", { n: spans.length })}
        className="block w-full cursor-pointer"
        style={{ height: 3 * row + 2 * top }}
        onClick={(e) => {
          const box = e.currentTarget.getBoundingClientRect();
          const px = e.clientX - box.left, lane = Math.floor((e.clientY - box.top - top) / row);
          let best: Span | undefined, near = 30;
          for (const s of spans) {
            const d = (s.lane === lane ? 0 : 12) + Math.max(0, x(s.from) - px, px - Math.max(x(s.to), x(s.from) + 2));
            if (d < near) [near, best] = [d, s];
          }
          if (best !== undefined) onSelect(best.seq);
        }}
      />
    </div>
  );
});
