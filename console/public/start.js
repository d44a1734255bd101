// The page without its script or its style is nothing: what could not be fetched
// is asked for until it is there, and then the page loads anew.
addEventListener(
  "error",
  ({ target: part }) => {
    if (part.localName !== "script" && part.rel !== "stylesheet") return;
    const ask = () => fetch(part.src ?? part.href, { cache: "reload" }).then((r) => (r.ok ? location.reload() : later()), later);
    const later = () => setTimeout(ask, 1000);
    later();
  },
  true,
);
