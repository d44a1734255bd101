package kernel

// callTable is what a call of the line, and a restart, come to in every scene.
const callTable = `
called: invalid | awaiting awaiting/restarted cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing work/awaiting work/awaiting/restarted work/idle work/paused work/paused/asked work/pausing work/running
called: ok running turn_start session_state | work/queued work/recovering work/resumed
called: unavailable | work/stopped
called/expired: invalid | awaiting awaiting/restarted cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing work/awaiting work/awaiting/restarted work/idle work/paused work/paused/asked work/pausing work/running
called/expired: ok failed session_checkpoint error session_state | work/queued
called/expired: ok failed session_checkpoint error turn_end session_state | work/recovering work/resumed
called/expired: unavailable | work/stopped
looked: invalid | awaiting awaiting/restarted cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing work/awaiting work/awaiting/restarted work/idle work/paused work/paused/asked work/pausing work/running
looked: ok | work/queued work/recovering work/resumed
looked: unavailable | work/stopped
looked/expired: invalid | awaiting awaiting/restarted cancelled completed failed idle paused queued recovering running running/cancelling running/full running/orphaned running/pausing work/awaiting work/awaiting/restarted work/idle work/paused work/paused/asked work/pausing work/running
looked/expired: ok failed session_checkpoint error session_state | work/queued
looked/expired: ok failed session_checkpoint error turn_end session_state | work/recovering work/resumed
looked/expired: unavailable | work/stopped
restarted: error response turn_end turn_start | running/full
restarted: failed error response turn_end | running running/orphaned
restarted: idle response turn_end | running/cancelling
restarted: nothing | awaiting/restarted cancelled completed failed idle paused work/awaiting work/awaiting/restarted work/idle work/paused work/paused/asked work/queued work/recovering work/resumed work/stopped
restarted: paused error response turn_end session_state | running/pausing
restarted: paused tool_outcome session_state | work/pausing
restarted: recovering session_state | work/running
restarted: running session_state turn_start | recovering
restarted: running turn_start | queued
restarted: tool_outcome | awaiting
restarted/expired: error response turn_end turn_start | running/full
restarted/expired: failed error response turn_end | running running/orphaned
restarted/expired: failed session_checkpoint error approval_applied tool_outcome turn_end session_state | work/awaiting work/awaiting/restarted
restarted/expired: failed session_checkpoint error turn_end session_state | work/recovering work/resumed work/running work/stopped
restarted/expired: idle response turn_end | running/cancelling
restarted/expired: nothing | awaiting/restarted cancelled completed failed idle paused work/idle work/paused work/paused/asked work/queued
restarted/expired: paused error response turn_end session_state | running/pausing
restarted/expired: paused tool_outcome session_state | work/pausing
restarted/expired: running session_state turn_start | recovering
restarted/expired: running turn_start | queued
restarted/expired: tool_outcome | awaiting
`
