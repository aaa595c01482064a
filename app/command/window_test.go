package command

import (
	"strings"
	"testing"
)

func TestHandingOverIsAsked(t *testing.T) {
	const file = "testdata/small.spaa"
	if r := run(file); r.code != Done || r.window == nil || r.window.Reuse || r.window.Compare {
		t.Errorf("a file opens with %+v", r.window)
	}
	if r := run("--reuse", file); r.code != Done || !r.window.Reuse || r.window.Compare {
		t.Errorf("--reuse opens with %+v", r.window)
	}
	if r := run("--compare-with-open", "--", file); r.code != Done || r.window.Reuse || !r.window.Compare {
		t.Errorf("--compare-with-open opens with %+v", r.window)
	}
	for line, want := range map[string]string{
		"--reuse":                             "name the file",
		"--compare-with-open":                 "name the file",
		"--reuse -":                           "standard input cannot be passed to another window",
		"--reuse --compare-with-open " + file: "use either --reuse or",
	} {
		r := run(strings.Fields(line)...)
		r.sentence(t, Usage, want)
	}
}
