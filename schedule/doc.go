// Package schedule begins sessions by the clock.
//
// A [Spec] says when, purely. A [Scheduler] keeps schedules in a file and makes
// a background session at each time, under an id that follows from the schedule
// and the time: a server that is killed anywhere between deciding and noting it
// down does the same again and finds it done. Times that passed while no server
// ran are made up for once, or not at all, as the schedule says.
package schedule
