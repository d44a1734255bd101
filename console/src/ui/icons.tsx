import type { ReactNode } from "react";

/** Drawn on a grid of 16, in the colour of the text around them. */
function icon(...paths: string[]): (p: { readonly size?: number; readonly className?: string }) => ReactNode {
  return function Icon({ size = 16, className = "" }) {
    return (
      <svg width={size} height={size} viewBox="0 0 16 16" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" strokeLinejoin="round" aria-hidden="true" className={"shrink-0 " + className}>
        {paths.map((d) => <path key={d} d={d} />)}
      </svg>
    );
  };
}

export const Sessions = icon("M2.5 4h11", "M2.5 8h11", "M2.5 12h7");
export const Inbox = icon("M2 9.5 4 3h8l2 6.5V13H2z", "M2 9.5h3.5l1 1.5h3l1-1.5H14");
export const Gauge = icon("M2.5 12.5a6 6 0 1 1 11 0", "M8 10l3-4");
export const Gear = icon("M8 5.6a2.4 2.4 0 1 0 0 4.8 2.4 2.4 0 0 0 0-4.8", "M8 1.8v1.6M8 12.6v1.6M14.2 8h-1.6M3.4 8H1.8M12.4 3.6l-1.2 1.2M4.8 11.2l-1.2 1.2M12.4 12.4l-1.2-1.2M4.8 4.8 3.6 3.6");
export const Plus = icon("M8 3v10", "M3 8h10");
export const Search = icon("M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9", "M10.5 10.5 14 14");
export const Back = icon("M9.5 3 4.5 8l5 5");
export const Right = icon("M6 3.5 10.5 8 6 12.5");
export const Down = icon("M3.5 6 8 10.5 12.5 6");
export const Up = icon("M3.5 10 8 5.5l4.5 4.5");
export const Close = icon("M3.5 3.5l9 9", "M12.5 3.5l-9 9");
export const Check = icon("M3 8.5 6.5 12 13 4.5");
export const Stop = icon("M4 4h8v8H4z");
export const Pause = icon("M5.5 3.5v9", "M10.5 3.5v9");
export const Play = icon("M4.5 3l8 5-8 5z");
export const Branch = icon("M4.5 5v6M4.5 5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3M4.5 14a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3M11.5 6a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3M11.5 6c0 3-7 1.5-7 5");
export const Rewind = icon("M3 8a5 5 0 1 0 1.6-3.7", "M3 2.5v2.8h2.8");
export const Send = icon("M8 13V3", "M3.5 7.5 8 3l4.5 4.5");
export const Steer = icon("M3 13V9a4 4 0 0 1 4-4h6", "M10 2l3 3-3 3");
export const Queue = icon("M2.5 4h8", "M2.5 8h8", "M2.5 12h5", "M12.5 9v5M10 11.5h5");
export const File = icon("M4 2h5l3 3v9H4z", "M9 2v3h3");
export const Terminal = icon("M2 3h12v10H2z", "M4.5 6l2 2-2 2", "M8.5 10.5h3");
export const Pencil = icon("M3 13l.7-3L10.5 3.2l2.3 2.3L6 12.3z");
export const Eye = icon("M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8", "M8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6");
export const Globe = icon("M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2", "M2 8h12", "M8 2c2 2 2.5 4 2.5 6S10 12 8 14c-2-2-2.5-4-2.5-6S6 4 8 2");
export const People = icon("M6 8a2.2 2.2 0 1 0 0-4.4A2.2 2.2 0 0 0 6 8", "M2 13c0-2.2 1.8-3.6 4-3.6s4 1.4 4 3.6", "M10.8 4a2 2 0 0 1 0 3.8M12 9.7c1.3.5 2 1.7 2 3.3");
export const Box = icon("M2.5 5 8 2l5.5 3v6L8 14l-5.5-3z", "M2.5 5 8 8l5.5-3M8 8v6");
export const Question = icon("M6 6a2 2 0 1 1 2.8 1.8c-.6.3-.8.7-.8 1.4", "M8 11.6v.1", "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2");
export const Warning = icon("M8 2.5 14.5 13.5h-13z", "M8 6.5v3", "M8 11.4v.1");
export const Clock = icon("M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2", "M8 5v3.2l2 1.3");
export const Flag = icon("M4 14V2.5h7.5L10 5l1.5 2.5H4");
export const Bolt = icon("M9 2 3.5 9H8l-1 5 5.5-7H8z");
export const Sun = icon("M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6", "M8 1.5v1.2M8 13.3v1.2M14.5 8h-1.2M2.7 8H1.5M12.6 3.4l-.9.9M4.3 11.7l-.9.9M12.6 12.6l-.9-.9M4.3 4.3l-.9-.9");
export const Moon = icon("M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5");
export const Heart = icon("M8 13.2S2.2 9.8 2.2 6A3 3 0 0 1 8 4.8 3 3 0 0 1 13.8 6c0 3.8-5.8 7.2-5.8 7.2");
export const Chat = icon("M2.5 3h11v7.5H8L5 13.2v-2.7H2.5z");
export const Lanes = icon("M2 4h6", "M5 8h8", "M3.5 12h5");
export const Diff = icon("M8 2.5v6M5 5.5h6", "M5 12.5h6");
export const Tree = icon("M4 2.5v11", "M4 6h5M4 11h5", "M11 4.5h2.5v3H11zM11 9.5h2.5v3H11z");
export const Bug = icon("M5 6.5a3 3 0 0 1 6 0v3a3 3 0 0 1-6 0z", "M6 4 4.8 2.5M10 4l1.2-1.5M2.2 8H5M11 8h2.8M3 12l2-1.3M13 12l-2-1.3");
export const Keys = icon("M1.5 4h13v8h-13z", "M4 6.5h.1M7 6.5h.1M10 6.5h.1M12.5 6.5h.1M4.5 9.5h7");
export const Copy = icon("M5.5 5.5h8v8h-8z", "M10.5 5.5v-3h-8v8h3");
export const Download = icon("M8 2.5v7.5", "M4.5 7 8 10.5 11.5 7", "M3 13.5h10");
export const Thought = icon("M8 2.5c-3.3 0-5.5 1.8-5.5 4.2 0 1.5 1 2.8 2.5 3.5v2.3l2.3-1.6H8c3.3 0 5.5-1.8 5.5-4.2S11.3 2.5 8 2.5");
export const Board = icon("M2.5 3h3v10h-3zM6.7 3h3v6.5h-3zM10.9 3h3v8h-3z");
export const Bell = icon("M4 11V7a4 4 0 0 1 8 0v4l1 1.5H3z", "M6.8 14h2.4");
export const More = icon("M3 7.6v.8M8 7.6v.8M13 7.6v.8M2.6 8h.8M7.6 8h.8M12.6 8h.8");
export const External = icon("M6 3H3v10h10v-3", "M9 3h4v4M13 3 7.5 8.5");
export const Side = icon("M2 3h12v10H2z", "M10 3v10");
