package sql

import (
	"slices"
	"strings"
	"testing"
)

// TestComplete checks the completions at the bar in a query.
func TestComplete(t *testing.T) {
	names := func(part string) (all []string) {
		for _, n := range []string{"parse", "parseFast", "it's", "main"} {
			if strings.HasPrefix(n, part) {
				all = append(all, n)
			}
		}
		return all
	}
	for _, c := range []struct{ query, has, lacks string }{
		{"SELECT * FROM sp|", "spans", "span_id self_ps SELECT"},
		{"SELECT * FROM |", "spans samples columns recordings", "span_id"},
		{"SELECT dur| FROM spans", "duration_ps", "self_ps spans"},
		{"SELECT dur|", "duration_ps", ""},
		{"SELECT s.| FROM spans s", "span_id recording function", "state_id SELECT count("},
		{"SELECT s.st| FROM spans AS s, states t", "start_ps", "state"},
		{"SELECT t.st| FROM spans s, states AS t", "start_ps state state_id", ""},
		{"SELECT spans.f| FROM spans", "function function_id", "frame_id"},
		{"SELECT nosuch.f| FROM spans", "", "function"},
		{"sel|", "SELECT self_ps", "spans"},
		{"SELECT perc|", "percentile_disc(", ""},
		{"SELECT 1 FROM spans WHERE function = 'par|", "parse parseFast", "main it''s"},
		{"SELECT 1 FROM spans WHERE function = 'it|", "it''s", "main"},
		{"SELECT 1 FROM spans WHERE function = 'it''|", "it''s", "main it's"},
		{"SELECT 1 FROM spans WHERE function IN ('main', 'p|')", "parse parseFast", "main"},
		{"SELECT 1 FROM spans WHERE args = 'par|", "", "parse"},
		{"SELECT 1 FROM spans WHERE function = 'par'|", "", "parse"},
		{"SELECT 1 -- sp|", "", "spans"},
		{"SELECT /* sp| */ 1", "", "spans"},
		{"SELECT \"sp|", "", "span_id"},
		{"|", "SELECT", ""},
	} {
		at := strings.IndexByte(c.query, '|')
		from, all := Complete(strings.Replace(c.query, "|", "", 1), at, names)
		if from < 0 || from > at {
			t.Errorf("%s: from %d", c.query, from)
		}
		var texts []string
		for _, x := range all {
			if slices.Contains(texts, x.Text) {
				t.Errorf("%s: %s twice", c.query, x.Text)
			}
			texts = append(texts, x.Text)
		}
		for _, w := range strings.Fields(c.has) {
			if !slices.Contains(texts, w) {
				t.Errorf("%s: lacks %s: %q", c.query, w, texts)
			}
		}
		for _, w := range strings.Fields(c.lacks) {
			if slices.Contains(texts, w) {
				t.Errorf("%s: has %s", c.query, w)
			}
		}
	}
}

// FuzzComplete checks that completions are found in any text.
func FuzzComplete(f *testing.F) {
	f.Add("SELECT s. FROM spans s WHERE 'x", 9)
	f.Add("/* -- '", 3)
	f.Fuzz(func(t *testing.T, query string, at int) {
		from, _ := Complete(query, at, func(string) []string { return []string{"x"} })
		if from < 0 || from > len(query) {
			t.Errorf("from %d of %q", from, query)
		}
	})
}
