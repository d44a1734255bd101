/** Characters that are not seen, or make others be seen elsewhere: directions, zero widths, controls. */
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/**
 * A command, a path or a line of code as it is: what would hide or reorder
 * something is shown by its name, so that nobody approves what cannot be seen.
 */
export function plain(text: string): string {
  return text.replace(hidden, (c) => (c === "\u001b" ? "␛" : `⟨U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`));
}

/** A text of the server that names events by session and number, by number alone. */
export function numbered(text: string): string {
  return text.replace(/\bses_\w+\.(\d+)/g, "$1");
}
