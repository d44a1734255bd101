package kernel

// reportTable is what becomes of every kind of report.
const reportTable = `
antahkarana: dropped | abandoned idle late
antahkarana: taken antahkarana | cancelling live
approval_applied: refused | abandoned cancelling idle late live
approval_required: refused | abandoned cancelling idle late live
artifact: dropped | abandoned cancelling idle late
artifact: taken artifact | live
completed: dropped | abandoned cancelling idle late
completed: taken completed | live
context_compacted: dropped | abandoned cancelling idle late
context_compacted: taken context_compacted | live
context_warning: dropped | abandoned cancelling idle late
context_warning: taken context_warning | live
error: dropped | abandoned cancelling idle late
error: taken error | live
health_snapshot: refused | abandoned cancelling idle late live
hook_event: dropped | abandoned idle late
hook_event: taken hook_event | cancelling live
hook_event/cancel: refused | abandoned cancelling idle late live
policy_decision: dropped | abandoned cancelling idle late
policy_decision: taken policy_decision | live
reflection: dropped | abandoned cancelling idle late
reflection: taken reflection | live
response: dropped | abandoned cancelling idle late
response: taken response | live
retrieval: dropped | abandoned cancelling idle late
retrieval: taken retrieval | live
rewind: refused | abandoned cancelling idle late live
sandbox_notice: dropped | abandoned cancelling idle late
sandbox_notice: taken sandbox_notice | live
session: refused | abandoned cancelling idle late live
session_checkpoint: dropped | abandoned cancelling idle late
session_checkpoint: taken session_checkpoint | live
session_checkpoint/workspace: refused | abandoned cancelling idle late live
session_state: refused | abandoned cancelling idle late live
step_progress: dropped | abandoned cancelling idle late
step_progress: taken step_progress | live
subagent_event: dropped | abandoned cancelling idle late
subagent_event: taken subagent_event | live
thinking: dropped | abandoned cancelling idle late
thinking: taken thinking | live
token: dropped | abandoned cancelling idle late
token: taken token | live
token/new-item: dropped | abandoned cancelling idle late
token/new-item: taken response token | live
tool_batch: dropped | abandoned cancelling idle late
tool_batch: taken tool_batch | live
tool_call: dropped | abandoned cancelling idle late
tool_call: taken tool_call | live
tool_call/again: dropped | abandoned cancelling idle late live
tool_call/no-id: dropped | abandoned cancelling idle late live
tool_log: dropped | abandoned cancelling idle late
tool_log: taken tool_log | live
tool_log/closed: dropped | abandoned cancelling idle late live
tool_outcome: dropped | abandoned idle late
tool_outcome: taken tool_outcome | cancelling live
tool_outcome/closed: dropped | abandoned cancelling idle late live
tool_outcome/none: dropped | abandoned cancelling idle late live
tool_result: dropped | abandoned idle late
tool_result: taken tool_result | cancelling live
tool_result/closed: dropped | abandoned cancelling idle late live
tool_selected: dropped | abandoned cancelling idle late
tool_selected: taken tool_selected | live
tool_validation_error: dropped | abandoned cancelling idle late
tool_validation_error: taken tool_validation_error | live
transport_diagnostic: dropped | abandoned cancelling idle late
transport_diagnostic: taken transport_diagnostic | live
turn_end: refused | abandoned cancelling idle late live
turn_start: refused | abandoned cancelling idle late live
turn_start_tools: dropped | abandoned cancelling idle late
turn_start_tools: taken turn_start_tools | live
unknown: dropped | abandoned cancelling idle late
unknown: taken from_the_future | live
unknown/forged: refused | abandoned cancelling idle late live
usage: dropped | abandoned idle late
usage: taken usage | cancelling live
user_message: refused | abandoned cancelling idle late live
`

// questionTable is what the engine is answered, and what follows.
const questionTable = `
delegate: not_running | abandoned cancelling idle late
delegate: ok | live
ask: not_running | abandoned cancelling idle late
ask: silence policy_decision approval_required | live
ask/closed: invalid | live
ask/closed: not_running | abandoned cancelling idle late
ask/read: not_running | abandoned cancelling idle late
ask/read: ok policy_decision | live
checkpoint: not_running | abandoned idle late
checkpoint: ok session_checkpoint | cancelling live
end: silence | abandoned idle late
end: silence tool_outcome response turn_end | cancelling live
end/error: silence | abandoned idle late
end/error: silence error tool_outcome response turn_end | live
end/error: silence tool_outcome response turn_end | cancelling
end/leave: silence | abandoned idle late live
end/leave: silence tool_outcome response turn_end | cancelling
end/retry: silence | abandoned idle late
end/retry: silence error tool_outcome response turn_end | live
end/retry: silence tool_outcome response turn_end | cancelling
`
