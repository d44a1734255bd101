// Exchanges the code behind the # of this page's address for a cookie.
const say = (text, how) => {
  document.getElementById("text").textContent = text;
  document.getElementById("how").hidden = !how;
};
const given = new URLSearchParams(location.hash.slice(1));
const code = given.get("code");
const next = given.get("next") ?? "/";
history.replaceState(null, "", "/login"); // the code is not for the history
addEventListener("hashchange", () => location.reload()); // a link that is opened in the tab of this page

// Networks change: what nobody answered is sent again.
async function reach(path, init) {
  for (const ms of [300, 1200]) {
    try {
      return await fetch(path, init);
    } catch {
      await new Promise((r) => setTimeout(r, ms));
    }
  }
  return fetch(path, init).catch((e) => {
    history.replaceState(null, "", "/login#" + given); // nobody has had the code: it is for the reload
    throw e;
  });
}

async function login() {
  if (!code) return enter();
  const answer = await reach("/login", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ code, next }) });
  const body = await answer.json();
  if (answer.ok) location.replace(body.next);
  else say(body.detail[0].toUpperCase() + body.detail.slice(1) + ".", true);
}

// A link from another site brings no cookie along; this page has it.
async function enter() {
  if (!(await reach("/whoami")).ok) return say("You are not logged in here.", true);
  const here = new URL(next, location.origin);
  location.replace(here.origin === location.origin ? here.pathname : "/");
}
login().catch(() => say("The server did not answer. Reload to try again."));
