package command

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// TestRangeBehindTheEnd checks that a range after the recording's end is a problem with the
// file, not a usage error: the same range may suit another file.
func TestRangeBehindTheEnd(t *testing.T) {
	const file = "testdata/small.spaa"
	for _, args := range []string{"top " + file, "stats " + file + " --function main", "convert " + file + " " + filepath.Join(t.TempDir(), "x.spaa")} {
		r := run(append(strings.Fields(args), "--range", "5s..6s")...)
		r.sentence(t, Problem, "small.spaa", "begins after the recording's end at 2.5s")
	}
	// Commands that read only the range.
	const spans = "testdata/small.spall"
	r := run("info", spans, "--range", "5h..6h")
	r.sentence(t, Problem, "small.spall", "the range 18000s..21600s begins after the recording's end at ")
	if r := run("check", spans, "--range", "5h..6h"); r.code != Problem || !strings.Contains(r.stdout, "begins after the recording's end at ") {
		t.Errorf("check: %+v", r)
	}
	if r := run("info", spans, "--range", "0s..5h"); r.code != Done {
		t.Errorf("with all of it in the range: %+v", r)
	}
}

// TestRangesBehindTheEnd checks that diff refuses a range behind the end of a recording.
func TestRangesBehindTheEnd(t *testing.T) {
	const file = "testdata/small.spaa"
	r := run("diff", file, file, "--range-a", "5s..6s")
	r.sentence(t, Problem, "small.spaa", "begins after the recording's end at 2.5s")
}

// TestJSONIsDocumented checks that help json lists the fields of every command's JSON, and
// that the output has no others.
func TestJSONIsDocumented(t *testing.T) {
	said, byName := map[string]map[string]bool{"": {}}, map[string]bool{}
	page := run("help", "json")
	if page.code != Done {
		t.Fatal(page.stderr)
	}
	command := ""
	for _, line := range strings.Split(page.stdout, "\n") {
		if rest, ok := strings.CutPrefix(line, "ashlar "); ok {
			command = strings.TrimSuffix(rest, " --json")
			said[command] = map[string]bool{}
		} else if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(line, "  ") && line[2] != ' ' {
			said[command][strings.TrimRight(f[0], "[]")] = true
			byName[command+" "+f[0]] = strings.HasSuffix(line, "object by name")
		}
	}
	for _, c := range commands() {
		if fs, _ := c.prepare(); fs.Lookup("json") != nil && len(said[c.Name]) == 0 {
			t.Errorf("nothing is said of the JSON of %s", c.Name)
		}
	}
	for _, want := range []string{"Windows cannot be split", "as in the file, in Unit"} {
		if !strings.Contains(strings.Join(strings.Fields(page.stdout), " "), want) {
			t.Errorf("the page lacks the comment %q", want)
		}
	}
	const file, spans = "testdata/small.spaa", "testdata/small.spall"
	for command, args := range map[string][]string{
		"info": {"info", file}, "top": {"top", file, "--tree"}, "stats": {"stats", spans, "--function", "/./"}, "diff": {"diff", file, file}, "check": {"check", file},
		"check --rules": {"check", "--rules"}, "convert": {"convert", file, filepath.Join(t.TempDir(), "x.folded")},
	} {
		r := run(append(args, "--json")...)
		var v any
		if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
			t.Errorf("%s: %v: %s", command, err, r.stderr)
			continue
		}
		for _, path := range paths(v, "") {
			if outer := path[:max(0, strings.LastIndexByte(path, '.'))]; !said[command][path] && !byName[command+" "+outer] {
				t.Errorf("%s prints %s, which the help does not name", command, path)
			}
		}
	}
}

// paths returns the names of all fields, nested ones as OUTER.INNER.
func paths(v any, prefix string) (all []string) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			all = append(all, paths(x, prefix+"[]")...)
		}
	case map[string]any:
		for k, x := range v {
			path := strings.TrimPrefix(prefix+"."+k, ".")
			all = append(all, strings.TrimRight(path, "[]"))
			all = append(all, paths(x, path)...)
		}
	}
	return all
}
