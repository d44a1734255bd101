package script

import (
	"maps"
	"slices"
)

// Verbs lists the language's commands.
func Verbs() []string { return slices.Sorted(maps.Keys(verbs)) }
