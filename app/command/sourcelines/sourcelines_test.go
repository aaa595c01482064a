package sourcelines_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/app/command"
	"ashlar/app/command/sourcelines"
)

func ask(t *testing.T, v any, args ...string) string {
	t.Helper()
	var out, remarks bytes.Buffer
	if code := command.Main(args, nil, &out, &remarks, command.Runner{}); code != command.Done {
		return remarks.String()
	}
	if err := json.Unmarshal(out.Bytes(), v); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return ""
}

// TestSource checks the cost of lines against sums worked out by hand, their text against a
// source file beside the recording, and the errors for unknown names.
func TestSource(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(dir, "run.pb.json")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("run.pb.json", `{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"main","file":"src/a.c","line":1},{"name":"work","file":"src/a.c","line":3},{"name":"far","file":"lib/b.c","line":2},{"name":"none"}]},"profiles":[{"type":"sampled","name":"x","unit":"nanoseconds","startValue":0,"endValue":16,"samples":[[0],[0,1],[0,1,2],[0,3]],"weights":[1,3,5,7]}]}`)
	write("a.c", "int main() {\n\n\twork();\n}\n")
	var got sourcelines.Source
	if refused := ask(t, &got, "source", run, "work", "--json"); refused != "" {
		t.Fatal(refused)
	}
	want := fmt.Sprint([]string{"3 3     work();", "1 1 int main() {"})
	var rows []string
	for _, l := range got.Lines {
		rows = append(rows, fmt.Sprintf("%d %s %s", l.Line, l.Self, l.Text))
	}
	if fmt.Sprint(rows) != want || got.Source != "src/a.c" || got.Self != "4" || got.Total != "16" {
		t.Errorf("%v of %s, self %s of %s; want %s", rows, got.Source, got.Self, got.Total, want)
	}
	// Far from the recording, the file is found in the folder of a program that is given.
	moved := filepath.Join(t.TempDir(), "run.pb.json")
	if err := os.Rename(run, moved); err != nil {
		t.Fatal(err)
	}
	write("program", "")
	for _, given := range []bool{false, true} {
		args := []string{"source", moved, "work", "--json"}
		if given {
			args = append(args, "--exe", filepath.Join(dir, "program"))
		}
		var got sourcelines.Source
		if refused := ask(t, &got, args...); refused != "" || (got.Missing == "") != given {
			t.Errorf("program given: %v, missing %q %s", given, got.Missing, refused)
		}
	}
	run = moved
	var far sourcelines.Source
	if refused := ask(t, &far, "source", run, "b.c", "--json"); refused != "" || far.Lines[0].Self != "5" || far.Missing == "" {
		t.Errorf("of b.c: %+v %s", far, refused)
	}
	for what, want := range map[string]string{"none": "the recording has no source file for", "nowhere": "nowhere"} {
		if refused := ask(t, &far, "source", run, what, "--json"); !strings.Contains(refused, want) {
			t.Errorf("%s: %q", what, refused)
		}
	}
}
