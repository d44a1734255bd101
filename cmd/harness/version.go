package main

import "runtime/debug"

// release is the version this source is on its way to.
const release = "0.1.0-dev"

// version is the release and, where the build knows it, the commit.
func version() string {
	v := release
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				v += "+" + s.Value[:12]
			}
		}
	}
	return v
}
