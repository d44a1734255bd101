import { type Catalogue, extend, type Key as First, translate } from ".";
import { enMore } from "./en-more";

export { lang } from ".";

/** Any text. Whoever may need one that is not there from the start takes t from here. */
export type Key = keyof Catalogue;

extend(enMore);

export function t(key: Key | First, values: Readonly<Record<string, string | number>> = {}): string {
  return translate(key, values);
}
