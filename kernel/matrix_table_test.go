package kernel

// commandTable is what every command comes to in every scene.
const commandTable = `
answer: approval_not_found | cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing
answer: ok running approval_applied | awaiting
answer: ok running approval_applied turn_start | awaiting/restarted
answer/again: approval_not_found | cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing
answer/again: ok | awaiting awaiting/restarted
answer/always: approval_not_found | cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing
answer/always: ok running approval_applied | awaiting
answer/always: ok running approval_applied turn_start | awaiting/restarted
answer/deny: approval_not_found | cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing
answer/deny: ok running approval_applied | awaiting
answer/deny: ok running approval_applied turn_start | awaiting/restarted
answer/nonsense: invalid | awaiting awaiting/restarted cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing
answer/otherwise: already_resolved | awaiting awaiting/restarted
answer/otherwise: approval_not_found | cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing
answer/unknown: approval_not_found | awaiting awaiting/restarted cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing
cancel: not_running | cancelled completed failed idle paused queued
cancel: ok | running/cancelling
cancel: ok hook_event | running running/full running/pausing
cancel: ok idle hook_event approval_applied tool_outcome response turn_end | awaiting/restarted
cancel: ok idle hook_event response turn_end | running/orphaned
cancel: ok idle hook_event turn_end | recovering
cancel: ok running hook_event approval_applied | awaiting
cancel/other: turn_not_found | awaiting awaiting/restarted cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing
configure: ok session_state | awaiting awaiting/restarted cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing
configure/bad: invalid | awaiting awaiting/restarted cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing
configure/empty: invalid | awaiting awaiting/restarted cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing
pause: ok | paused running/pausing
pause: ok paused session_state | cancelled completed failed idle queued
pause: ok session_state | awaiting awaiting/restarted recovering running running/cancelling running/full running/orphaned
resume: invalid | awaiting awaiting/restarted cancelled completed failed idle queued recovering running running/cancelling running/full running/orphaned
resume: ok idle session_state | paused
resume: ok session_state | running/pausing
rewind: unsupported | awaiting awaiting/restarted cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing
steer: not_running | awaiting/restarted cancelled completed failed idle paused queued recovering running/cancelling running/orphaned
steer: ok user_message | awaiting running running/full running/pausing
steer/empty: invalid | awaiting awaiting/restarted cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing
submit: busy | awaiting awaiting/restarted paused running running/cancelling running/full running/pausing
submit: ok running user_message turn_start | cancelled completed failed idle
submit: unavailable | queued recovering running/orphaned
submit/empty: invalid | awaiting awaiting/restarted cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing
submit/interrupt: ok running user_message hook_event approval_applied | awaiting
submit/interrupt: ok running user_message hook_event approval_applied tool_outcome response turn_end turn_start | awaiting/restarted
submit/interrupt: ok running user_message turn_start | cancelled completed failed idle
submit/interrupt: ok user_message | paused running/cancelling
submit/interrupt: ok user_message hook_event | running running/pausing
submit/interrupt: queue_full | running/full
submit/interrupt: unavailable | queued recovering running/orphaned
submit/queue: ok running user_message turn_start | cancelled completed failed idle
submit/queue: ok user_message | awaiting awaiting/restarted paused running running/cancelling running/pausing
submit/queue: queue_full | running/full
submit/queue: unavailable | queued recovering running/orphaned
submit/reject: busy | awaiting awaiting/restarted paused running running/cancelling running/full running/pausing
submit/reject: ok running user_message turn_start | cancelled completed failed idle
submit/reject: unavailable | queued recovering running/orphaned
`

// ruleTable is what a rule for the tool that a scene may wait for comes to.
const ruleTable = `
rule: nothing | cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing
rule: approval_applied | awaiting
rule: approval_applied turn_start | awaiting/restarted
other: nothing | awaiting awaiting/restarted cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing
draining: nothing | awaiting awaiting/restarted cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing
`
