package kernel

// fileCommandTable is what commands come to.
const fileCommandTable = `
cancel: not_running | draining idle rewinding rewinding/queued
cancel: ok | marking/cancelling
cancel: ok hook_event | ending marking/ended
cancel: stop ok hook_event | failed marked marking starting
cancel/other: turn_not_found | draining ending failed idle marked marking marking/cancelling marking/ended rewinding rewinding/queued starting
pause: ok session_state | draining ending failed idle marked marking marking/cancelling marking/ended rewinding rewinding/queued starting
resume: invalid | draining ending failed idle marked marking marking/cancelling marking/ended rewinding rewinding/queued starting
rewind: busy | ending failed marked marking marking/cancelling marking/ended rewinding rewinding/queued starting
rewind: rewind | idle
rewind: unavailable | draining
steer: not_running | draining ending idle marking/cancelling marking/ended rewinding rewinding/queued
steer: ok user_message | starting
steer: say ok user_message | failed marked marking
submit: busy | ending failed marked marking marking/cancelling marking/ended rewinding rewinding/queued starting
submit: start ok user_message turn_start | idle
submit: unavailable | draining
submit/interrupt: ok user_message | marking/cancelling rewinding/queued
submit/interrupt: ok user_message hook_event | ending marking/ended
submit/interrupt: ok user_message session_state | rewinding
submit/interrupt: start ok user_message turn_start | idle
submit/interrupt: stop ok user_message hook_event | failed marked marking starting
submit/interrupt: unavailable | draining
submit/queue: ok user_message | ending failed marked marking marking/cancelling marking/ended rewinding/queued starting
submit/queue: ok user_message session_state | rewinding
submit/queue: start ok user_message turn_start | idle
submit/queue: unavailable | draining
submit/reject: busy | ending failed marked marking marking/cancelling marking/ended rewinding rewinding/queued starting
submit/reject: start ok user_message turn_start | idle
submit/reject: unavailable | draining
`

// fileEndTable is what the end of work on files comes to.
const fileEndTable = `
done: ok rewind | rewinding
done: ok start rewind turn_start | rewinding/queued
kept: allow session_checkpoint | marking
kept: forget-it session_checkpoint | marking/cancelling
kept: mark-after session_checkpoint | marking/ended
kept: start session_checkpoint | starting
kept: waits session_checkpoint turn_end | ending
not-kept: allow session_checkpoint | marking
not-kept: forget-it session_checkpoint | marking/cancelling
not-kept: start session_checkpoint | starting
not-kept: waits session_checkpoint turn_end | ending marking/ended
nothing: ok rewind | rewinding
nothing: ok start rewind turn_start | rewinding/queued
partly: ok rewind | rewinding
partly: ok start rewind turn_start | rewinding/queued
refused: invalid | rewinding
refused: invalid start turn_start | rewinding/queued
`
