// Exchanges the code behind the # of this page's address for a cookie.
const say = (text) => { document.getElementById("text").textContent = text; };
const given = new URLSearchParams(location.hash.slice(1));
const code = given.get("code");
history.replaceState(null, "", "/login"); // the code is not for the history

async function login() {
  if (!code) {
    say("Open the link that the server printed at its start, or run: harness login");
    return;
  }
  const answer = await fetch("/login", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ code, next: given.get("next") ?? "/" }),
  });
  const body = await answer.json();
  if (answer.ok) location.replace(body.next);
  else say(body.detail);
}
login().catch(() => say("The server did not answer. Reload to try again."));
