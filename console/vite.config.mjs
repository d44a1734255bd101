import { fileURLToPath } from "node:url";

import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const client = (file) => fileURLToPath(new URL(`../client/ts/src/${file}`, import.meta.url));

/** What the page loads at once: no part has to ask for it beforehand, nor for itself. */
const first = new Set();
const loads = (bundle, name) => {
  if (first.has(name)) return;
  first.add(name);
  for (const other of bundle[name].imports) loads(bundle, other);
};

// Names are stable, so that a change of one file is a change of one file; the
// server serves them below a digest of them all, and parts name each other by
// their own place.
export default defineConfig({
  base: "/console/",
  experimental: { renderBuiltUrl: (_, { hostType }) => (hostType === "js" ? { relative: true } : undefined) },
  plugins: [react(), tailwind(), { name: "first-load", enforce: "pre", generateBundle: { order: "pre", handler: (_, bundle) => loads(bundle, "app.js") } }],
  resolve: {
    alias: [
      { find: /^harness-client\/http$/, replacement: client("http.ts") },
      { find: /^harness-client\/react$/, replacement: client("react.tsx") },
      { find: /^harness-client\/assistant-ui$/, replacement: client("assistant-ui.tsx") },
      { find: /^harness-client$/, replacement: client("index.ts") },
    ],
    dedupe: ["react", "react-dom", "@assistant-ui/react", "assistant-stream"],
  },
  build: {
    target: "es2022",
    outDir: "dist",
    emptyOutDir: true,
    modulePreload: { polyfill: false, resolveDependencies: (part, deps, { hostType }) => (hostType === "js" ? deps.filter((d) => d !== part && !first.has(d)) : deps) },
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    rollupOptions: {
      output: {
        entryFileNames: "app.js",
        chunkFileNames: (c) => (c.name === "screen" ? `${/src\/screens\/(\w+)/.exec(c.facadeModuleId ?? "")?.[1] ?? "screen"}.js` : "[name].js"),
        assetFileNames: (a) => (a.names?.[0]?.endsWith(".css") ? "app.css" : "[name][extname]"),
      },
    },
  },
});
