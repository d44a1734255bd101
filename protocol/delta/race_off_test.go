//go:build !race

package delta_test

const underRace = false
