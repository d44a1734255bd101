// The page without its script or its style is nothing: what could not be fetched
// is asked for until it is there, or gone with its build, and then the page loads
// anew, each time after twice as long. Soon it says so.
(() => {
  const key = "harness.loads", few = 3, slowest = 60_000;
  let failed = false;

  // Where nothing can be kept every time may be one of many.
  const loads = (n) => {
    try {
      if (n !== undefined) sessionStorage.setItem(key, n);
      return Number(sessionStorage.getItem(key));
    } catch {
      return few;
    }
  };

  const say = () => {
    const german = navigator.language.startsWith("de");
    const words = document.querySelector("#trouble") ?? document.createElement("p");
    words.id = "trouble";
    words.setAttribute("role", "alert");
    words.textContent = german ? "Ein Teil dieser Seite lässt sich nicht laden. Es wird weiter versucht." : "A part of this page cannot be loaded. It is tried again and again.";
    document.body.prepend(words);
  };

  const fail = ({ target: part }) => {
    if (failed || (part.localName !== "script" && part.rel !== "stylesheet")) return;
    failed = true;
    const ask = () => fetch(part.src ?? part.href, { cache: "reload" }).then((r) => (r.ok || r.status === 404 ? location.reload() : later()), later);
    const later = () => {
      const n = loads();
      loads(n + 1);
      if (n >= few) say();
      setTimeout(ask, Math.min(slowest, 1000 * 2 ** n));
    };
    later();
  };

  addEventListener("error", fail, true);
  addEventListener("load", () => failed || loads(0));
})();
