package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestJoinedArgs(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, f := range []string{"rank0.json", "rank1.json", "rank2.json", "other.json"} {
		if err := os.WriteFile(f, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range [][2]string{
		{"a b", "a|b"},
		{"a + b", "a + b"},
		{"a + b c + d", "a + b|c + d"},
		{"a + b + c d", "a + b + c|d"},
		{"rank0.json rank1.json rank2.json +", "rank*.json +"},
		{"rank0.json rank1.json +", "rank0.json + rank1.json"},
		{"rank0.json rank2.json other.json +", "rank0.json + rank2.json + other.json"},
		{"a + b c +", "a + b + c"},
		{"a +", "a +"},
		{"+", ""}, {"+ a", ""}, {"a + + b", ""}, {"a + +", ""},
	} {
		got, err := joinedArgs(strings.Fields(x[0]))
		if s := strings.Join(got, "|"); s != x[1] || (err == nil) != (x[1] != "") {
			t.Errorf("%q becomes %q (%v), not %q", x[0], s, err, x[1])
		}
	}
}

// TestJoinedCommands runs commands on several traces as one.
func TestJoinedCommands(t *testing.T) {
	t.Chdir(t.TempDir())
	for i := range 3 {
		text := fmt.Sprintf(`[{"ph":"X","pid":%d,"tid":1,"name":"step","ts":1700000000000000,"dur":%d}]`, i, 100*(i+1))
		if err := os.WriteFile(fmt.Sprintf("rank%d.json", i), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	total := func(args ...string) string {
		t.Helper()
		r := run(append([]string{"top", "--json"}, args...)...)
		var a struct {
			Total json.Number `json:"total"`
		}
		if err := json.Unmarshal([]byte(r.stdout), &a); err != nil || r.code != Done {
			t.Fatalf("%q: %d, %v: %s", args, r.code, err, r.stderr)
		}
		return a.Total.String()
	}
	alone := total("rank1.json")
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"rank0.json", "+", "rank1.json"}, "300000"},
		{[]string{"rank0.json", "rank1.json", "rank2.json", "+"}, "600000"},
		{[]string{"rank*.json +"}, "600000"},
		{[]string{"rank*.json +", "--where", "recording=rank1"}, alone},
	} {
		if got := total(x.args...); strings.TrimSuffix(got, ".000") != strings.TrimSuffix(x.want, ".000") {
			t.Errorf("%q has a total of %s, not %s", x.args, got, x.want)
		}
	}
	if r := run("info", "rank*.json +"); r.code != Done || !strings.Contains(r.stdout, "3 recordings: rank0, rank1, rank2") || !strings.Contains(r.stdout, "times of day") {
		t.Errorf("info: %s%s", r.stdout, r.stderr)
	}
	if r := run("top", "--by", "thread", "rank*.json +"); r.code != Done || !strings.Contains(r.stdout, "rank2: thread 1") {
		t.Errorf("top --by thread: %s%s", r.stdout, r.stderr)
	}
	if r := run("diff", "rank0.json", "+", "rank1.json", "rank1.json", "+", "rank2.json"); r.code != Done || !strings.Contains(r.stdout, "step") {
		t.Errorf("diff: %s%s", r.stdout, r.stderr)
	}
	if r := run("convert", "rank*.json +", "job.spaa"); r.code != Done || total("job.spaa") != total("rank*.json +") {
		t.Errorf("convert: %s%s", r.stdout, r.stderr)
	}
	if r := run("convert", "rank*.json +", "rank0.json", "--force"); r.code == Done {
		t.Errorf("convert replaces a part: %s%s", r.stdout, r.stderr)
	}
	if r := run("check", "rank*.json +", "--json"); r.code != Done || strings.Count(r.stdout, `"file"`) != 3 {
		t.Errorf("check: %s%s", r.stdout, r.stderr)
	}
	if r := run("top", "rank0.json", "+", "gone.json"); r.code != Problem || !strings.Contains(r.stdout, "step") || !strings.Contains(r.stderr, "gone.json") {
		t.Errorf("without a part: %d %s%s", r.code, r.stdout, r.stderr)
	}
	if r := run("rank0.json", "+", "rank1.json"); r.window == nil || !slices.Equal(r.window.Files, []string{"rank0.json + rank1.json"}) {
		t.Errorf("the window opens %+v: %s", r.window, r.stderr)
	}
	if r := run("rank0.json", "+", "gone.json"); r.window != nil || !strings.Contains(r.stderr, "gone.json") {
		t.Errorf("the window opens %+v: %s", r.window, r.stderr)
	}
	abs, err := filepath.Abs("rank0.json")
	if err != nil {
		t.Fatal(err)
	}
	if r := run("ashlar:1?file=rank0.json%20%2B%20rank1.json&tab=functions"); r.window == nil || !strings.Contains(r.window.Files[0], strings.TrimSuffix(abs, "rank0.json")) {
		t.Errorf("the address opens %+v: %s", r.window, r.stderr)
	}
}
