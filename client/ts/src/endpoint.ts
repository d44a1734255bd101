/** Where a server is and how to get in. */
export interface Endpoint {
  /** The server's address, as in `http://127.0.0.1:7717` or `wss://host/prefix/ws`; in a page its own origin unless given. */
  readonly url?: string | undefined;
  /** A token; without one the browser's cookie counts. */
  readonly token?: string | undefined;
}

/** The address under which all of the server's paths lie; it ends in a slash. */
export function baseOf(e: Endpoint): URL {
  const page = typeof location === "undefined" ? undefined : location.href;
  const given = e.url ?? (page === undefined ? undefined : new URL("/", page).href);
  if (given === undefined) throw new TypeError("url: missing, and there is no page to take it from");
  const base = new URL(given, page);
  base.protocol = base.protocol.replace(/^ws/, "http");
  base.search = base.hash = "";
  base.pathname = base.pathname.replace(/\/ws$/, "/").replace(/\/?$/, "/");
  return base;
}

export function socketUrl(e: Endpoint, query: Readonly<Record<string, string | number | undefined>>): string {
  const url = new URL("ws", baseOf(e));
  url.protocol = url.protocol.replace(/^http/, "ws");
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url.href;
}

/** A page cannot set headers on a socket, so the token is among the protocols. */
export function protocols(e: Endpoint): string[] {
  return e.token === undefined ? ["harness.v1"] : ["harness.v1", "bearer." + e.token];
}
