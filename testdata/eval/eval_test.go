package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFound checks that planted causes are found within the token limit, and that nothing
// is found where nothing was planted.
func TestFound(t *testing.T) {
	if all := cases(seeds); len(all) < 30 {
		t.Errorf("there are only %d recordings", len(all))
	}
	asked := uint64(2)
	if testing.Short() {
		asked = 1
	}
	for _, c := range cases(asked) {
		r, err := c.ask(t.TempDir())
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if !r.right {
			t.Errorf("%s has %q, and the findings are %q:\n%s", c.name, c.rule, r.rules, r.said)
		}
		if r.tokens > 6000 {
			t.Errorf("%s takes %d tokens", c.name, r.tokens)
		}
	}
}

// TestPage checks that the manual's table lists these recordings, each with the right
// finding.
func TestPage(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("../..", pagePath))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(b), pageBegin)
	table, _, ok2 := strings.Cut(rest, pageEnd)
	if !ok || !ok2 {
		t.Fatal("there is no table")
	}
	rows := map[string]string{}
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) == 7 {
			rows[strings.TrimSpace(cells[1])] = strings.TrimSpace(cells[2]) + " " + strings.TrimSpace(cells[3])
		}
	}
	for _, c := range cases(seeds) {
		if want := or(c.rule, "nothing") + " yes"; rows[c.name] != want {
			t.Errorf("%s: the manual has %q, want %q", c.name, rows[c.name], want)
		}
	}
}

// TestPeers checks the results for a missing program, one that cannot read the file, and
// one whose output is counted.
func TestPeers(t *testing.T) {
	c, dir := cases(1)[0], t.TempDir()
	if _, err := c.write(dir); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[peer]string{
		{"a", "no-such-program", ".spaa", "true"}:                             "missing",
		{"a", "sh", ".spaa", "exit 3"}:                                        "–",
		{"a", "sh", ".spaa", "printf 12345"}:                                  "2",
		{"a", "sh", ".spaa", `grep -o 'inventory.contains' "$1" | head -n 1`}: "5+",
	} {
		if got := p.ask(&c, dir).String(); got != want {
			t.Errorf("%s gives %q, want %q", p.command, got, want)
		}
	}
	if got := (peers{{"a", "no-such-program", "", ""}}).missing(); !strings.Contains(got, "no-such-program") {
		t.Errorf("missing says %q", got)
	}
}
