import type { ToolCallMessagePartProps } from "@assistant-ui/react";
import type { ToolArtifact } from "harness-client";
import { useState } from "react";

/** A tool call: what it does, what came of it, and the question about it if there is one. */
export function ToolCall(p: ToolCallMessagePartProps) {
  const { status, output, outputBytes } = p.artifact as ToolArtifact;
  const [reason, setReason] = useState("");
  const asks = p.approval !== undefined && p.approval.approved === undefined;
  return (
    <section className={`tool ${status}`} aria-label={`${p.toolName}: ${status}`}>
      <header>
        {p.toolName} <span>{status}</span>
      </header>
      <pre>{p.argsText}</pre>
      {output && <pre>{output}</pre>}
      {outputBytes && <p className="note">The beginning of {outputBytes} bytes.</p>}
      {asks && (
        <form className="approval" onSubmit={(e) => e.preventDefault()}>
          <p>{p.approval!.prompt ?? `May ${p.toolName} run?`}</p>
          <input aria-label="Reason for a denial" placeholder="Reason for a denial" value={reason} onChange={(e) => setReason(e.target.value)} />
          {p.approval!.options?.map((o) => (
            <button key={o.id} type="button" onClick={() => void p.respondToApproval({ optionId: o.id, ...(reason && { reason }) })}>
              {o.label}
            </button>
          ))}
        </form>
      )}
    </section>
  );
}
