import { lexer, type Token, type Tokens } from "marked";
import { createElement, memo, type ReactNode, useMemo, useRef } from "react";

import { t } from "../i18n";
import { CopyButton } from "./copy";

/**
 * Text of a model as elements, never as HTML: what looks like a tag is shown as
 * it is. While text comes in, only its open end is read again.
 */
export const Markdown = memo(function Markdown({ text, live = false }: { readonly text: string; readonly live?: boolean }): ReactNode {
  const blocks = useBlocks(text, live);
  return <div className="prose-h break-words">{blocks.map((b, i) => <Block key={i} raw={b.raw} token={b} />)}</div>;
});

/** How many blocks at the end may still become others. */
const open = 2;

function useBlocks(text: string, live: boolean): readonly Token[] {
  const last = useRef<{ readonly text: string; readonly blocks: readonly Token[] }>(undefined);
  return useMemo(() => {
    const before = last.current;
    let blocks: readonly Token[];
    if (live && before !== undefined && before.blocks.length > open && text.startsWith(before.text)) {
      const kept = before.blocks.slice(0, -open);
      const length = kept.reduce((n, b) => n + b.raw.length, 0);
      blocks = [...kept, ...lexer(apart(text.slice(length)))];
    } else blocks = lexer(text);
    last.current = { text, blocks };
    return blocks;
  }, [text, live]);
}

/** A copy: a part of a text keeps the whole of it in memory, and so each block would keep all that was there when it came. */
function apart(part: string): string {
  return ` ${part}`.slice(1);
}

const Block = memo(
  function Block({ token }: { readonly raw: string; readonly token: Token }): ReactNode {
    return block(token);
  },
  (a, b) => a.raw === b.raw,
);

function block(token: Token): ReactNode {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading": {
      const h = token as Tokens.Heading;
      return createElement(`h${Math.min(6, h.depth + 2)}`, null, inline(h.tokens));
    }
    case "paragraph":
      return <p className="whitespace-pre-wrap">{inline((token as Tokens.Paragraph).tokens)}</p>;
    case "code": {
      const c = token as Tokens.Code;
      return (
        <div className="group/code relative">
          <pre tabIndex={0} className="overflow-x-auto rounded-lg border border-line bg-sunken px-3 py-2 font-mono text-xs leading-5"><code>{c.text}</code></pre>
          <div className="absolute end-1 top-1 opacity-0 group-focus-within/code:opacity-100 group-hover/code:opacity-100"><CopyButton text={c.text} /></div>
        </div>
      );
    }
    case "blockquote":
      return <blockquote>{(token as Tokens.Blockquote).tokens.map((x, i) => <div key={i}>{block(x)}</div>)}</blockquote>;
    case "list": {
      const l = token as Tokens.List;
      const items = l.items.map((item, i) => (
        <li key={i} className={item.task ? "list-none" : ""}>
          {item.task && <span aria-hidden="true" className="me-1.5 -ms-5 inline-block">{item.checked === true ? "☑" : "☐"}</span>}
          {item.tokens.filter((x) => x.type !== "checkbox").map((x, n) => (x.type === "text" ? <span key={n}>{inline((x as Tokens.Text).tokens ?? [x])}</span> : <div key={n}>{block(x)}</div>))}
        </li>
      ));
      return l.ordered ? <ol start={typeof l.start === "number" ? l.start : 1}>{items}</ol> : <ul>{items}</ul>;
    }
    case "table": {
      const b = token as Tokens.Table;
      return (
        <div className="overflow-x-auto" tabIndex={0}>
          <table>
            <thead><tr>{b.header.map((c, i) => <th key={i}>{inline(c.tokens)}</th>)}</tr></thead>
            <tbody>{b.rows.map((r, i) => <tr key={i}>{r.map((c, n) => <td key={n}>{inline(c.tokens)}</td>)}</tr>)}</tbody>
          </table>
        </div>
      );
    }
    case "hr":
      return <hr />;
    default:
      return <p className="whitespace-pre-wrap">{token.raw}</p>;
  }
}

function inline(tokens: readonly Token[] | undefined): ReactNode {
  return tokens?.map((x, i): ReactNode => {
    switch (x.type) {
      case "text": {
        const s = x as Tokens.Text;
        return s.tokens !== undefined ? <span key={i}>{inline(s.tokens)}</span> : unescape(s.text);
      }
      case "escape":
        return (x as Tokens.Escape).text;
      case "strong":
        return <strong key={i} className="font-semibold">{inline((x as Tokens.Strong).tokens)}</strong>;
      case "em":
        return <em key={i}>{inline((x as Tokens.Em).tokens)}</em>;
      case "del":
        return <del key={i}>{inline((x as Tokens.Del).tokens)}</del>;
      case "codespan":
        return <code key={i}>{unescape((x as Tokens.Codespan).text)}</code>;
      case "br":
        return <br key={i} />;
      case "link": {
        const l = x as Tokens.Link;
        const host = hostOf(l.href);
        if (host === undefined) return <span key={i}>{x.raw}</span>;
        return <a key={i} href={l.href} target="_blank" rel="noreferrer noopener" title={l.href}>{inline(l.tokens)}{l.text.includes(host) ? null : <span className="text-faint no-underline"> ({host})</span>}</a>;
      }
      case "image": {
        const m = x as Tokens.Image;
        return <span key={i} className="text-faint">[{t("markdown.image")}: {m.text}]</span>;
      }
      default:
        return x.raw;
    }
  });
}

function unescape(s: string): string {
  return s.replace(/&(lt|gt|amp|quot|#39);/g, (_, n: string) => ({ lt: "<", gt: ">", amp: "&", quot: '"', "#39": "'" })[n] ?? "");
}

/** The host of an address that may be followed; others are shown as text. */
function hostOf(href: string): string | undefined {
  try {
    const u = new URL(href);
    return u.protocol === "https:" || u.protocol === "http:" ? u.host : u.protocol === "mailto:" ? u.pathname : undefined;
  } catch {
    return undefined;
  }
}
