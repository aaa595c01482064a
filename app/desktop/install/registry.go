package install

import (
	"errors"
	"fmt"
	"strings"

	"ashlar/ingest/input/safetext"
)

// hive is the current user's part of the Windows registry. Paths are below
// HKEY_CURRENT_USER; the value named "" is a key's default. It is an interface so that
// the registration can be tested on any system.
type hive interface {
	// get returns a value; ok is false if there is none.
	get(key, name string) (value string, ok bool, err error)
	set(key, name, value string) error
	// unset removes a value; a missing value is not an error.
	unset(key, name string) error
	// drop removes a key and everything below it; a missing key is not an error.
	drop(key string) error
	// dropEmpty removes a key that has neither values nor keys.
	dropEmpty(key string) error
}

const (
	classes   = `Software\Classes\`
	progID    = "Ashlar.Recording"
	uninstall = `Software\Microsoft\Windows\CurrentVersion\Uninstall\Ashlar`
)

// File extensions on Windows, which looks only at the last extension of a name. Ashlar
// becomes the default for the first list, unless another program is, and is offered for
// the second.
var (
	ownEndings     = []string{".spaa", ".spall", ".pprof", ".otlp", ".ashlar"}
	offeredEndings = []string{
		".bcc", ".bpftrace", ".cachegrind", ".callgrind", ".collapsed", ".cpuprofile", ".data",
		".dhat", ".dtrace", ".folded", ".ftrace", ".fxt", ".gz", ".hang", ".heap", ".heapprofile",
		".heaptrack", ".html", ".jfr", ".json", ".jsonl", ".kern_stacks", ".nettrace", ".out",
		".parquet", ".pb", ".perf", ".perf-script", ".perfetto-trace", ".pftrace", ".prof", ".sample", ".speedscope",
		".spin", ".spindump", ".stacks", ".systrace", ".trace", ".tsv", ".txt", ".user_stacks",
		".zip", ".zst",
	}
)

type setting struct{ key, name, value string }

// settings lists the registry values written for a program, except those of file
// extensions.
func settings(program, version string) []setting {
	open := fmt.Sprintf(`"%s" --from-desktop -- "%%1"`, program)
	compare := fmt.Sprintf(`"%s" --from-desktop --compare-with-open -- "%%1"`, program)
	app := classes + `Applications\ashlar.exe`
	all := []setting{
		{classes + progID, "", "Recording"},
		{classes + progID, "FriendlyTypeName", "Recording"},
		{classes + progID + `\DefaultIcon`, "", fmt.Sprintf(`"%s",-2`, program)},
		{classes + progID + `\shell\open\command`, "", open},
		{classes + progID + `\shell\compare`, "", "Compare with open recording"},
		{classes + progID + `\shell\compare\command`, "", compare},
		{app, "FriendlyAppName", "Ashlar"},
		{app + `\shell\open\command`, "", open},
		{uninstall, "DisplayName", "Ashlar"},
		{uninstall, "DisplayVersion", version},
		{uninstall, "DisplayIcon", program},
		{uninstall, "UninstallString", fmt.Sprintf(`"%s" uninstall`, program)},
	}
	for _, e := range append(append([]string{}, ownEndings...), offeredEndings...) {
		all = append(all, setting{app + `\SupportedTypes`, e, ""}, setting{classes + e + `\OpenWithProgids`, progID, ""})
	}
	return all
}

// register writes the registry entries of a program.
func register(h hive, program, version string) ([]Line, error) {
	if strings.Contains(program, `"`) {
		return nil, fmt.Errorf("the path %s contains a quote; move the program to a path without one", program)
	}
	all := settings(program, version)
	for _, s := range all {
		if err := h.set(s.key, s.name, s.value); err != nil {
			return nil, fmt.Errorf("the registry key %s cannot be written: %w", s.key, err)
		}
	}
	lines := []Line{ok("%s in the registry", safetext.Plural(len(all), "setting"))}
	for _, e := range ownEndings {
		has, there, err := h.get(classes+e, "")
		switch {
		case err != nil:
			return lines, err
		case there && has != "" && has != progID:
			lines = append(lines, lacks("%s files still open with %s", e, has))
		default:
			if err := h.set(classes+e, "", progID); err != nil {
				return lines, err
			}
		}
	}
	return lines, nil
}

// unregister removes the entries that register wrote.
func unregister(h hive) ([]Line, error) {
	var errs []error
	for _, e := range append(append([]string{}, ownEndings...), offeredEndings...) {
		errs = append(errs, h.unset(classes+e+`\OpenWithProgids`, progID), h.dropEmpty(classes+e+`\OpenWithProgids`))
		if has, _, _ := h.get(classes+e, ""); has == progID {
			errs = append(errs, h.unset(classes+e, ""))
		}
		errs = append(errs, h.dropEmpty(classes+e))
	}
	errs = append(errs, h.drop(classes+progID), h.drop(classes+`Applications\ashlar.exe`), h.dropEmpty(classes+"Applications"), h.drop(uninstall))
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return []Line{ok("registry entries removed")}, nil
}

// registered checks whether the registry has the values that register writes for a program.
func registered(h hive, program, version string) ([]Line, error) {
	right, wrong := 0, []Line(nil)
	for _, s := range settings(program, version) {
		have, there, err := h.get(s.key, s.name)
		switch {
		case err != nil:
			return nil, err
		case !there:
			wrong = append(wrong, lacks(`missing: HKCU\%s %s`, s.key, s.name))
		case have != s.value:
			wrong = append(wrong, lacks(`written by another program: HKCU\%s %s is %s`, s.key, s.name, have))
		default:
			right++
		}
	}
	if right == 0 {
		wrong = []Line{lacks("the registry has no entries for Ashlar")}
	} else {
		wrong = append(wrong, ok("%s in the registry", safetext.Plural(right, "setting")))
	}
	for _, e := range ownEndings {
		if has, _, err := h.get(classes+e, ""); err != nil {
			return nil, err
		} else if has != progID {
			wrong = append(wrong, lacks("%s is not opened by Ashlar", e))
		} else {
			wrong = append(wrong, ok("%s is opened by Ashlar", e))
		}
	}
	return wrong, nil
}
