/** Where a server is and how to get in. */
export interface Endpoint {
  /** The server's address, as in `http://127.0.0.1:7717` or `wss://host/prefix/ws`; in a page its own origin unless given. */
  readonly url?: string | undefined;
  /** A token; without one the browser's cookie counts. */
  readonly token?: string | undefined;
}

/** The address under which all of the server's paths lie; it ends in a slash. Outside a page it throws without a url. */
export function baseOf(e: Endpoint): URL {
  const base = new URL(e.url ?? "/", globalThis.location?.href);
  base.protocol = base.protocol.replace(/^ws/, "http");
  base.search = base.hash = "";
  base.pathname = base.pathname.replace(/(\/ws)?\/?$/, "/");
  return base;
}

/** The address of a path, with those parts of the query that are given. */
export function urlOf(e: Endpoint, path: string, query: Readonly<Record<string, string | number | undefined>>): URL {
  const url = new URL(path, baseOf(e));
  for (const name in query) {
    if (query[name] !== undefined) url.searchParams.set(name, String(query[name]));
  }
  return url;
}

/** A page cannot set headers on a socket, so the token is among the protocols. */
export function protocols(e: Endpoint): string[] {
  return e.token === undefined ? ["harness.v1"] : ["harness.v1", "bearer." + e.token];
}

/** Its headers for HTTP. */
export function credential(e: Endpoint): Record<string, string> {
  return e.token === undefined ? {} : { authorization: "Bearer " + e.token };
}
