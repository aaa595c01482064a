package shell

import (
	"flag"
	"strings"
	"testing"

	"ashlar/app/core/manual/manualtest"
)

var update = flag.Bool("update", false, "write the manual's tables anew")

// keyTable returns the manual's table of keys.
func keyTable() string {
	var b strings.Builder
	b.WriteString("| key | |\n|---|---|\n")
	for _, c := range Commands {
		var keys []string
		for _, k := range c.Keys {
			keys = append(keys, "`"+k.String()+"`")
		}
		b.WriteString("| " + strings.Join(keys, " ") + " | " + lowerFirst(c.Title) + " |\n")
	}
	return b.String()
}

// lowerFirst makes the first letter lower case, unless it is a word by itself, such as A.
func lowerFirst(s string) string {
	if s[1] == ' ' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// pointerTable returns the manual's table of gestures.
func pointerTable() string {
	var b strings.Builder
	b.WriteString("| with the pointer | |\n|---|---|\n")
	for _, g := range Gestures {
		b.WriteString("| " + g[0] + " | " + g[1] + " |\n")
	}
	return b.String()
}

func TestManualHasTheKeys(t *testing.T) {
	manualtest.CheckTable(t, "assets/manual/window.md", "keys", keyTable(), *update)
}

func TestManualHasTheGestures(t *testing.T) {
	manualtest.CheckTable(t, "assets/manual/window.md", "pointer", pointerTable(), *update)
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
