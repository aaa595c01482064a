// Package version reports the version of Ashlar.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// number is set by make to the output of git describe, without the leading v.
//
//	go build -ldflags "-X ashlar/app/desktop/version.number=1.2.3"
var number string

// Number returns the version: 1.2.3 for a release, 1.2.3-5-gabcdef0 for five commits
// after it, 0.0.0-… before the first release, each with -dirty if the tree was changed.
// It is "0.0.0-unknown" without information from git.
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

// fromBuild returns the version from the information recorded by go build.
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

// String returns the program's name, its version, and the Go version and platform of the
// build.
func String() string {
	return fmt.Sprintf("ashlar %s, %s %s/%s", Number(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
