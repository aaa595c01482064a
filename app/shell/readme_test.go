package shell

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the README's tables anew")

// keyTable is the README's table of keys.
func keyTable() string {
	var b strings.Builder
	b.WriteString("| key | |\n|---|---|\n")
	for _, c := range Commands {
		var keys []string
		for _, k := range c.Keys {
			keys = append(keys, "`"+k.String()+"`")
		}
		b.WriteString("| " + strings.Join(keys, " ") + " | " + strings.ToLower(c.Title[:1]) + c.Title[1:] + " |\n")
	}
	return b.String()
}

// pointerTable is the README's table of gestures.
func pointerTable() string {
	var b strings.Builder
	b.WriteString("| with the pointer | |\n|---|---|\n")
	for _, g := range Gestures {
		b.WriteString("| " + g[0] + " | " + g[1] + " |\n")
	}
	return b.String()
}

func TestReadmeHasTheKeys(t *testing.T) {
	checkTable(t, "<!-- keys: this table is checked against the code by a test -->\n", "<!-- end of keys -->", keyTable())
}

func TestReadmeHasTheGestures(t *testing.T) {
	checkTable(t, "<!-- pointer: this table is checked against the code by a test -->\n", "<!-- end of pointer -->", pointerTable())
}

// checkTable compares what stands between two marks in the README.
func checkTable(t *testing.T, begin, end, want string) {
	t.Helper()
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(b), begin)
	have, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("the README has no table after %s", begin)
	}
	if *update {
		if err := os.WriteFile("../../README.md", []byte(head+begin+want+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have != want {
		t.Errorf("the README's table is not that of the code; write it with go test ./app/shell -run Readme -update\nit has\n%s\nthe code has\n%s", have, want)
	}
}

func TestNoKeyTwice(t *testing.T) {
	seen := map[Chord]string{}
	for _, c := range Commands {
		for _, k := range c.Keys {
			if other, ok := seen[k]; ok {
				t.Errorf("%s is both %q and %q", k, other, c.Title)
			}
			seen[k] = c.Title
		}
	}
}
