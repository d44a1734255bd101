import { useClient, useConnection } from "harness-client/react";

const words = {
  connecting: "Connecting…",
  open: "",
  stale: "The server is quiet. What you see may be old.",
  reconnecting: "Reconnecting… What you see may be old.",
  closed: "Disconnected",
} as const;

/** Says how the connection stands, and what went wrong, if anything did. */
export function Banner(props: { failure: string | undefined; dismiss: () => void }) {
  const client = useClient();
  const { phase, reason } = useConnection();
  return (
    <div role="status" className="banners">
      {phase !== "open" && (
        <p className={`banner ${phase}`}>
          {words[phase]} {phase === "closed" && reason?.message}
          {phase !== "closed" && phase !== "connecting" && <button onClick={() => client.reconnect()}>Try now</button>}
        </p>
      )}
      {props.failure && (
        <p className="banner failure">
          {props.failure} <button onClick={props.dismiss}>Dismiss</button>
        </p>
      )}
    </div>
  );
}
