package main

import "testing"

// TestFound: what was planted is found, by few words, and where nothing was planted
// nothing is.
func TestFound(t *testing.T) {
	all := cases()
	if len(all) < 30 {
		t.Errorf("there are only %d recordings", len(all))
	}
	for _, c := range all {
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
