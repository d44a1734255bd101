// A chat with a Harness session, made of assistant-ui's components. Open it as
// http://127.0.0.1:5173/?session=ses_…#token=hk_…; without a session it begins
// one, and without a token the browser's cookie counts.
import { AssistantRuntimeProvider } from "@assistant-ui/react";
import { HarnessClient } from "harness-client";
import { useHarnessRuntime } from "harness-client/assistant-ui";
import { HarnessProvider } from "harness-client/react";
import { useState } from "react";
import { createRoot } from "react-dom/client";

import { Banner } from "./banner.js";
import "./main.css";
import { History } from "./history.js";
import { Thread } from "./thread.js";

const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? undefined;
const sessionId = new URLSearchParams(location.search).get("session") ?? undefined;
history.replaceState(null, "", location.pathname + location.search); // a token does not stay where it can be seen

const client = new HarnessClient({ token, sessionId, window: 64 });
addEventListener("pagehide", (e) => e.persisted || client.close());

function App() {
  const [failure, setFailure] = useState<string>();
  const runtime = useHarnessRuntime(client, { onError: (e) => setFailure(e.message) });
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <Banner failure={failure} dismiss={() => setFailure(undefined)} />
      <Thread history={<History />} />
    </AssistantRuntimeProvider>
  );
}

createRoot(document.getElementById("app")!).render(
  <HarnessProvider client={client}>
    <App />
  </HarnessProvider>,
);
