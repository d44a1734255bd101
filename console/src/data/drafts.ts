const key = "harness.drafts";

/** What was begun and not sent, by session. It outlives a load of the page, where its tab can keep anything. */
export const drafts = new Map<string, string>(kept());

addEventListener("pagehide", () => {
  try {
    sessionStorage.setItem(key, JSON.stringify([...drafts].filter(([, text]) => text !== "")));
  } catch {
    // nothing can be kept here
  }
});

function kept(): [string, string][] {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? "[]") as [string, string][];
  } catch {
    return [];
  }
}
