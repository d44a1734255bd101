package kernel

// commandTable is what every command comes to in every scene.
const commandTable = `
answer: approval_not_found | cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing work/idle work/paused work/pausing work/queued work/recovering work/resumed work/running work/stopped
answer: ok approval_applied | work/paused/asked
answer: ok queued approval_applied session_state | work/awaiting/restarted
answer: ok running approval_applied turn_start | awaiting/restarted
answer: ok running approval_applied | awaiting work/awaiting
answer/again: approval_not_found | cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing work/awaiting work/awaiting/restarted work/idle work/paused work/paused/asked work/pausing work/queued work/recovering work/resumed work/running work/stopped
answer/again: ok | awaiting awaiting/restarted
answer/always: approval_not_found | cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing work/idle work/paused work/pausing work/queued work/recovering work/resumed work/running work/stopped
answer/always: ok approval_applied | work/paused/asked
answer/always: ok queued approval_applied session_state | work/awaiting/restarted
answer/always: ok running approval_applied turn_start | awaiting/restarted
answer/always: ok running approval_applied | awaiting work/awaiting
answer/deny: approval_not_found | cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing work/idle work/paused work/pausing work/queued work/recovering work/resumed work/running work/stopped
answer/deny: ok approval_applied | work/paused/asked
answer/deny: ok queued approval_applied session_state | work/awaiting/restarted
answer/deny: ok running approval_applied turn_start | awaiting/restarted
answer/deny: ok running approval_applied | awaiting work/awaiting
answer/nonsense: invalid | awaiting awaiting/restarted cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing work/awaiting work/awaiting/restarted work/idle work/paused work/paused/asked work/pausing work/queued work/recovering work/resumed work/running work/stopped
answer/otherwise: already_resolved | awaiting awaiting/restarted
answer/otherwise: approval_not_found | cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing work/awaiting work/awaiting/restarted work/idle work/paused work/paused/asked work/pausing work/queued work/recovering work/resumed work/running work/stopped
answer/unknown: approval_not_found | awaiting awaiting/restarted cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing work/awaiting work/awaiting/restarted work/idle work/paused work/paused/asked work/pausing work/queued work/recovering work/resumed work/running work/stopped
cancel: not_running | cancelled completed failed idle paused queued work/idle
cancel: ok cancelled hook_event approval_applied tool_outcome turn_end session_state | work/awaiting/restarted work/paused/asked
cancel: ok cancelled hook_event turn_end session_state | work/paused work/recovering work/resumed work/stopped
cancel: ok cancelled session_state | work/queued
cancel: ok hook_event | running running/full running/pausing work/pausing work/running
cancel: ok idle hook_event approval_applied tool_outcome response turn_end | awaiting/restarted
cancel: ok idle hook_event response turn_end | running/orphaned
cancel: ok idle hook_event turn_end | recovering
cancel: ok running hook_event approval_applied | awaiting work/awaiting
cancel: ok | running/cancelling
cancel/other: turn_not_found | awaiting awaiting/restarted cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing work/awaiting work/awaiting/restarted work/idle work/paused work/paused/asked work/pausing work/queued work/recovering work/resumed work/running work/stopped
configure: ok session_state | awaiting awaiting/restarted cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing work/awaiting work/awaiting/restarted work/idle work/paused work/paused/asked work/pausing work/queued work/recovering work/resumed work/running work/stopped
configure/bad: invalid | awaiting awaiting/restarted cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing work/awaiting work/awaiting/restarted work/idle work/paused work/paused/asked work/pausing work/queued work/recovering work/resumed work/running work/stopped
configure/empty: invalid | awaiting awaiting/restarted cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing work/awaiting work/awaiting/restarted work/idle work/paused work/paused/asked work/pausing work/queued work/recovering work/resumed work/running work/stopped
pause: not_running | cancelled completed failed
pause: ok paused session_state session_state | work/running
pause: ok paused session_state | idle queued work/awaiting/restarted work/idle work/queued work/recovering work/resumed work/stopped
pause: ok session_state | awaiting awaiting/restarted recovering running running/cancelling running/full running/orphaned work/awaiting
pause: ok | paused running/pausing work/paused work/paused/asked work/pausing
resume: invalid | awaiting awaiting/restarted completed idle queued recovering running running/cancelling running/full running/orphaned work/awaiting work/awaiting/restarted work/idle work/queued work/recovering work/resumed work/running work/stopped
resume: ok awaiting_approval session_state | work/paused/asked
resume: ok idle session_state | paused
resume: ok queued session_state | work/paused
resume: ok queued user_message session_state | cancelled failed
resume: ok session_state | running/pausing work/pausing
rewind: unsupported | awaiting awaiting/restarted cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing work/awaiting work/awaiting/restarted work/idle work/paused work/paused/asked work/pausing work/queued work/recovering work/resumed work/running work/stopped
steer: not_running | awaiting/restarted cancelled completed failed idle paused queued recovering running/cancelling running/orphaned work/awaiting/restarted work/idle work/paused work/paused/asked work/queued work/recovering work/resumed work/stopped
steer: ok user_message | awaiting running running/full running/pausing work/awaiting work/pausing work/running
steer/empty: invalid | awaiting awaiting/restarted cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing work/awaiting work/awaiting/restarted work/idle work/paused work/paused/asked work/pausing work/queued work/recovering work/resumed work/running work/stopped
submit: busy | awaiting awaiting/restarted paused running running/cancelling running/full running/pausing work/awaiting work/awaiting/restarted work/paused work/paused/asked work/pausing work/queued work/recovering work/resumed work/running
submit: ok queued user_message session_state | cancelled completed failed work/idle
submit: ok running user_message turn_start | idle
submit: unavailable | queued recovering running/orphaned work/stopped
submit/empty: invalid | awaiting awaiting/restarted cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing work/awaiting work/awaiting/restarted work/idle work/paused work/paused/asked work/pausing work/queued work/recovering work/resumed work/running work/stopped
submit/interrupt: ok queued user_message hook_event approval_applied tool_outcome turn_end session_state | work/awaiting/restarted work/paused/asked
submit/interrupt: ok queued user_message hook_event turn_end session_state | work/paused work/recovering
submit/interrupt: ok queued user_message session_state | cancelled completed failed work/idle
submit/interrupt: ok running user_message hook_event approval_applied tool_outcome response turn_end turn_start | awaiting/restarted
submit/interrupt: ok running user_message hook_event approval_applied | awaiting work/awaiting
submit/interrupt: ok running user_message turn_start | idle
submit/interrupt: ok user_message hook_event turn_end session_state | work/resumed
submit/interrupt: ok user_message hook_event | running running/pausing work/pausing work/running
submit/interrupt: ok user_message | paused running/cancelling work/queued
submit/interrupt: queue_full | running/full
submit/interrupt: unavailable | queued recovering running/orphaned work/stopped
submit/queue: ok queued user_message session_state | cancelled completed failed work/idle
submit/queue: ok running user_message turn_start | idle
submit/queue: ok user_message | awaiting awaiting/restarted paused running running/cancelling running/pausing work/awaiting work/awaiting/restarted work/paused work/paused/asked work/pausing work/queued work/recovering work/resumed work/running
submit/queue: queue_full | running/full
submit/queue: unavailable | queued recovering running/orphaned work/stopped
submit/reject: busy | awaiting awaiting/restarted paused running running/cancelling running/full running/pausing work/awaiting work/awaiting/restarted work/paused work/paused/asked work/pausing work/queued work/recovering work/resumed work/running
submit/reject: ok queued user_message session_state | cancelled completed failed work/idle
submit/reject: ok running user_message turn_start | idle
submit/reject: unavailable | queued recovering running/orphaned work/stopped
`

// ruleTable is what a rule for the tool that a scene may wait for comes to.
const ruleTable = `
rule: nothing | cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing work/idle work/paused work/pausing work/queued work/recovering work/resumed work/running work/stopped
rule: approval_applied | awaiting work/awaiting work/paused/asked
rule: approval_applied turn_start | awaiting/restarted
rule: approval_applied session_state | work/awaiting/restarted
other: nothing | awaiting awaiting/restarted cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing work/awaiting work/awaiting/restarted work/idle work/paused work/paused/asked work/pausing work/queued work/recovering work/resumed work/running work/stopped
draining: nothing | awaiting awaiting/restarted cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing work/awaiting work/awaiting/restarted work/idle work/paused work/paused/asked work/pausing work/queued work/recovering work/resumed work/running work/stopped
`
