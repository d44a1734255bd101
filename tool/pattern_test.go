package tool

import "testing"

func FuzzPattern(f *testing.F) {
	f.Add("**/*.{go,ts}", "a/b.go")
	f.Add("[!a-", "[")
	f.Fuzz(func(_ *testing.T, p, name string) {
		if fits, err := pattern(p, "/w", "."); err == nil {
			fits(name)
		}
	})
}
