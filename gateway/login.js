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

// Networks change: what is not answered to its end is sent again, after these
// pauses in ms, each of which follows a try. lost: the server may have had it before.
async function reach(path, init, pauses = [300, 1200, 0]) {
  let lost = false;
  for (const ms of pauses) {
    try {
      const answer = await fetch(path, init);
      return { ok: answer.ok, body: await answer.json(), lost };
    } catch {
      lost = true;
      await new Promise((r) => setTimeout(r, ms));
    }
  }
  throw new Error("no answer");
}

// Whether the server has had a code that it did not answer is not known here, nor
// whether its cookie has come. A code that comes twice within a second was stolen,
// and ends the login: so whatever follows a try, a reload also, comes later.
const later = [1200, 1200, 1200];

async function login() {
  if (!code) return enter();
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ code, next }) };
  const answer = await reach("/login", init, later).catch((e) => {
    history.replaceState(null, "", "/login#" + given); // for the reload
    throw e;
  });
  if (answer.ok) return location.replace(answer.body.next);
  const why = answer.body.detail[0].toUpperCase() + answer.body.detail.slice(1) + ".";
  return answer.lost ? enter(why) : say(why, true); // it may have been used by an earlier try
}

// A link from another site brings no cookie along; this page has it.
async function enter(otherwise = "You are not logged in here.") {
  if (!(await reach("/whoami")).ok) return say(otherwise, true);
  const here = new URL(next, location.origin);
  location.replace(here.origin === location.origin ? here.pathname : "/");
}
login().catch(() => say("The server did not answer. Reload to try again."));
