package claims_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ashlar/app/agent/claims"
	"ashlar/app/command"
	"ashlar/app/command/picture"
)

func run(args ...string) (code int, out, remarks string) {
	var o, r bytes.Buffer
	code = command.Main(args, nil, &o, &r, command.Runner{Render: picture.Render})
	return code, o.String(), r.String()
}

// check runs check-claims on a report's text and returns its exit code and answer.
func check(t *testing.T, dir, text string) (code int, c claims.Checked) {
	t.Helper()
	path := filepath.Join(dir, "held.md")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, remarks := run("check-claims", path, "--json")
	if err := json.Unmarshal([]byte(out), &c); err != nil {
		t.Fatalf("%v: %s", err, remarks)
	}
	return code, c
}

// reports writes reports on single recordings and on pairs, one with function names that are
// hard to quote.
func reports(t *testing.T) (dir string, texts []string) {
	t.Helper()
	dir = t.TempDir()
	b := &bytes.Buffer{}
	for i, name := range []string{"main;parse", "main;it's `odd` | \"here\"", "main;*bold* #1;[x]_y", "main;a\x1bb", "main;parse;deep"} {
		fmt.Fprintf(b, "%s %d\n", name, 100+37*i)
	}
	hard := filepath.Join(dir, "it's hard.folded")
	if err := os.WriteFile(hard, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	for i, files := range [][]string{{"../../command/testdata/small.spaa"}, {"../../command/testdata/small.spall"}, {"../../command/testdata/diff-a.folded", "../../command/testdata/diff-b.folded"}, {hard}, {hard, "../../command/testdata/diff-a.folded"}} {
		out := "-"
		if i == 0 {
			out = filepath.Join(dir, "report.md")
		}
		code, text, remarks := run(append(append([]string{"report"}, files...), "-o", out)...)
		if code != command.Done {
			t.Fatalf("%v: %s", files, remarks)
		}
		if out != "-" {
			b, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			text = string(b)
			if st, err := os.Stat(filepath.Join(dir, "report.png")); err != nil || st.Size() < 1000 {
				t.Errorf("there is no picture: %v", err)
			}
		}
		texts = append(texts, text)
	}
	return dir, texts
}

var claimed = regexp.MustCompile(`= (-?[0-9]+(?:\.[0-9]+)?)|\*\*(-?[0-9]+(?:\.[0-9]+)?)[^*]*\*\*`)

// TestClaims checks that all numbers of generated reports pass, and that check-claims finds
// each of 200 wrong numbers, one at a time, and gives the right one.
func TestClaims(t *testing.T) {
	dir, texts := reports(t)
	for i, text := range texts {
		if code, c := check(t, dir, text); code != command.Done || c.Wrong != 0 || c.Claims < 6 {
			t.Fatalf("report %d: exit code %d, %d of %d are wrong: %+v\n%s", i, code, c.Wrong, c.Claims, c.Found, text)
		}
	}
	rounds := 200
	if testing.Short() {
		rounds = 25
	}
	rnd := rand.New(rand.NewSource(19))
	for i := range rounds {
		text := texts[i%len(texts)]
		all := claimed.FindAllStringSubmatchIndex(text, -1)
		m := all[rnd.Intn(len(all))]
		from, to := m[2], m[3]
		if from < 0 {
			from, to = m[4], m[5]
		}
		right := text[from:to]
		wrong := mutate(rnd, right)
		code, c := check(t, dir, text[:from]+wrong+text[to:])
		line := 1 + strings.Count(text[:from], "\n")
		if code != command.Failed || c.Wrong < 1 || c.Found[0].Line != line {
			t.Errorf("%s instead of %s in line %d is not found: exit code %d, %+v", wrong, right, line, code, c.Found)
		} else if m[2] >= 0 && (c.Found[0].Right == nil || string(*c.Found[0].Right) != right) {
			t.Errorf("%s instead of %s: what is right is not said: %+v", wrong, right, c.Found)
		}
	}
}

// mutate returns a different number by changing or adding a digit, or adding a minus sign.
func mutate(rnd *rand.Rand, s string) string {
	for {
		b := []byte(s)
		switch i := rnd.Intn(len(b)); rnd.Intn(4) {
		case 0:
			if b[i] >= '0' && b[i] <= '9' {
				b[i] = '0' + byte(rnd.Intn(10))
			}
		case 1:
			b = append([]byte("-"), bytes.TrimPrefix(b, []byte("-"))...)
		case 2:
			b = append(b, '1')
		default:
			b = append([]byte{'1' + byte(rnd.Intn(9))}, bytes.TrimPrefix(b, []byte("-"))...)
		}
		var x, y float64
		if _, err := fmt.Sscan(string(b), &x); err != nil {
			continue
		}
		if fmt.Sscan(s, &y); x != y && strings.TrimLeft(string(b), "-0") != strings.TrimLeft(s, "-0") || x == -y && y != 0 {
			return string(b)
		}
	}
}

// TestForms checks claims written by hand.
func TestForms(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "written.spaa")
	const file = "../../command/testdata/diff-a.folded"
	for text, want := range map[string]string{
		"x `ashlar top " + file + " # rows[0].self ~ 1e3`":                   "is not a claim",
		"x `ashlar top " + file + " # nothing = 1`":                          "no field nothing",
		"x `ashlar top " + file + " # rows[name=\"nobody\"].self = 1`":       `"nobody"`,
		"x `ashlar top " + file + " # rows[99999].self = 1`":                 "elements",
		"x `ashlar top " + file + " # metric = 1`":                           "is not a number",
		"x `ashlar top none.folded # total = 1`":                             "none.folded",
		"x `ashlar convert " + file + " " + target + " --json # bytes = 1`":  "a report may use only",
		"x `ashlar top " + file + " > " + target + " # total = 1`":           ", which needs a shell",
		"x `ashlar top 'open # total = 1` `ashlar top " + file + " # a = 1`": "no field a",
		"x [y](ashlar:1?file=none.folded)":                                   "there is no such file",
		"x `ashlar top " + file + " # total / nothing = 1`":                  "no field nothing",
		"x `ashlar top " + file + " # total / more = 1`":                     "more is 0",
		"x `ashlar top " + file + " # total - total = 1`":                    "actually 0",
		"x `ashlar top " + file + " # total / records ~ 0.1`":                "claimed 0.1",
		"x `ashlar top " + file + " # total / ashlar top none # total = 1`":  "none",
		"x `ashlar top " + file + " # total / ashlar help # total = 1`":      "a report may use only",
	} {
		if code, c := check(t, dir, text+"\n"); code != command.Failed || len(c.Found) != 1 || !strings.Contains(c.Found[0].Why, want) {
			t.Errorf("%s: exit code %d, %+v, want %q", text, code, c.Found, want)
		}
	}
	if _, err := os.Stat(target); err == nil {
		t.Error("a report wrote something")
	}
	_, out, _ := run("top", file, "--json")
	var top struct {
		Total json.Number
		Rows  []struct {
			Name string
			Self json.Number
		}
	}
	if err := json.Unmarshal([]byte(out), &top); err != nil {
		t.Fatal(err)
	}
	name, err := json.Marshal(top.Rows[1].Name)
	if err != nil {
		t.Fatal(err)
	}
	good := fmt.Sprintf("It is **%s** in all, `ashlar top %s # total = %s; rows[name=%s].self = %s`, and 7 others. `ashlar:1?file=%s`\n", top.Total, file, top.Total, name, top.Rows[1].Self, file)
	if code, c := check(t, dir, good); code != command.Done || c.Claims != 4 {
		t.Errorf("%s: exit code %d, %+v", good, code, c)
	}
	self, err := top.Rows[1].Self.Float64()
	if err != nil {
		t.Fatal(err)
	}
	total, err := top.Total.Float64()
	if err != nil {
		t.Fatal(err)
	}
	good = fmt.Sprintf("It is **%.1f %%** of it, or **%.8f**, and **%.0f** less: `ashlar top %s # rows[1].self / total ~ %.6[2]f; rows[1].self / ashlar top %[4]s -n 1 # total ~ %.8[2]f; total - rows[1].self = %.0[3]f`\n",
		100*self/total, self/total, total-self, file)
	if code, c := check(t, dir, good); code != command.Done || c.Claims != 6 {
		t.Errorf("%s: exit code %d, %+v", good, code, c)
	}
	if code, _, remarks := run("check-claims", file); code != command.Problem || !strings.Contains(remarks, "has no claims") {
		t.Errorf("what is no report gives %d: %s", code, remarks)
	}
}
