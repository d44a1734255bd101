// Shows dist, or the folder that is given, on a port of 127.0.0.1 and hands
// everything else to the server. It adds no credential of its own.
// node serve.mjs [http://127.0.0.1:7717 [5173 [FOLDER]]]
import { readFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const [to = "http://127.0.0.1:7717", port = "5173", folder = fileURLToPath(new URL("dist", import.meta.url))] = process.argv.slice(2);
const server = new URL(to);
let own; // the page's origin
const types = { html: "text/html; charset=utf-8", js: "text/javascript", css: "text/css" };

/** The request as the server expects it from a page of its own; one of another site stays what it is. */
function passed(r) {
  const headers = { ...r.headers, host: server.host };
  if (headers.origin === own) headers.origin = server.origin;
  return request({ host: server.hostname, port: server.port, method: r.method, path: r.url, headers });
}

const proxy = createServer(async (r, w) => {
  const name = r.url.split("?")[0] === "/" ? "index.html" : /^\/([\w-]+\.(js|css))$/.exec(r.url)?.[1];
  const file = name && (await readFile(join(folder, name)).catch(() => undefined));
  if (file) return w.writeHead(200, { "content-type": types[name.split(".").pop()] }).end(file);
  const to = passed(r).on("response", (a) => a.pipe(w.writeHead(a.statusCode, a.headers)));
  r.pipe(to.on("error", () => w.headersSent || w.writeHead(502).end()));
});
proxy.on("upgrade", (r, socket, head) => {
  const to = passed(r);
  to.on("upgrade", (a, line, first) => {
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${a.rawHeaders.map((h, i) => h + (i % 2 ? "\r\n" : ": ")).join("")}\r\n`);
    socket.write(first);
    line.write(head);
    socket.pipe(line).pipe(socket);
    socket.on("error", () => line.destroy());
    line.on("error", () => socket.destroy());
  });
  to.on("response", (a) => socket.end(`HTTP/1.1 ${a.statusCode} ${a.statusMessage}\r\nconnection: close\r\n\r\n`));
  to.on("error", () => socket.destroy());
  to.end();
});
proxy.listen(Number(port), "127.0.0.1", () => {
  own = `http://127.0.0.1:${proxy.address().port}`;
  console.log(`${own} shows ${server.origin}`);
});
