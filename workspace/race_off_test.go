//go:build !race

package workspace_test

const race = false
