package shell

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the README's key table anew")

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

func TestReadmeHasTheKeys(t *testing.T) {
	const begin, end = "by a test -->\n", "<!-- end of keys -->"
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(b), begin)
	have, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("the README has no marked table of keys")
	}
	want := keyTable()
	if *update {
		if err := os.WriteFile("../../README.md", []byte(head+begin+want+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have != want {
		t.Errorf("the README's key table is not that of the code; write it with go test ./app/shell -run Readme -update\nit has\n%s\nthe code has\n%s", have, want)
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
