// Package version reports the version of Ashlar.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// number is set by make: what git describes, without the leading v.
//
//	go build -ldflags "-X ashlar/app/desktop/version.number=1.2.3"
var number string

// Number is the version: 1.2.3 of a release, 1.2.3-5-gabcdef0 five commits
// after it, 0.0.0-… if there is no release yet, and the same with -dirty of
// a tree that was changed. Where git did not tell, it is "0.0.0-unknown".
func Number() string {
	if number != "" {
		return number
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknown
	}
	return fromBuild(info)
}

const unknown = "0.0.0-unknown"

// fromBuild reads what go build noted by itself.
func fromBuild(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return strings.TrimPrefix(v, "v")
	}
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	if revision == "" {
		return unknown
	}
	return "0.0.0-g" + revision[:min(12, len(revision))] + dirty
}

// String names the program, its version and what built it.
func String() string {
	return fmt.Sprintf("ashlar %s, %s %s/%s", Number(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
