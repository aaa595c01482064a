package folded

import (
	"context"
	"io"
	"strings"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// repeated reads a text n times.
type repeated struct {
	text string
	n    int
	rest string
}

func (r *repeated) Read(b []byte) (int, error) {
	if r.rest == "" {
		if r.n == 0 {
			return 0, io.EOF
		}
		r.n--
		r.rest = r.text
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// TestEqualLines checks that equal lines take no memory after the first million, that sums
// stay exact, and that lines which cannot be added up, because they have a fraction or
// would exceed 64 bits, count as before.
func TestEqualLines(t *testing.T) {
	const times = 5000
	block := strings.Repeat("main;work 1\nmain;idle 2\nmain;work -3\n", 200)
	for _, c := range []struct {
		name, last string
		total      int64
		decimals   int
	}{
		{"whole numbers", "main;end 7\n", 7, 0},
		{"a fraction in the end", "main;end 0.5\n", 5, 1},
		{"a large count", "main;work 9223372036854775806\n", 9223372036854775806, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := io.MultiReader(&repeated{text: block, n: times}, strings.NewReader(c.last))
			b := recording.NewBuilder()
			if err := Decode(context.Background(), source.FromReader("x.folded", r), b, decode.Options{}); err != nil {
				t.Fatal(err)
			}
			rec := b.Finish()
			m := &rec.Events[0].Metrics[0]
			if m.Total != c.total || m.Decimals != c.decimals {
				t.Errorf("the total is %d with %d decimals, want %d with %d", m.Total, m.Decimals, c.total, c.decimals)
			}
			if rec.Counts.Stacks > mergeAfter+5 {
				t.Errorf("%d records for four stacks", rec.Counts.Stacks)
			}
			want := map[string]int64{"work": -2 * 200 * times, "idle": 2 * 200 * times}
			s := rec.Stacks[0]
			for i := range s.Len() {
				want[rec.FuncName(s.Call(i))] -= s.Value(i, 0)
			}
			for name, rest := range want {
				if name != "end" && rest != 0 && c.name == "whole numbers" {
					t.Errorf("the sum of %s is off by %d", name, rest)
				}
			}
			lines, merged := int64(3*200*times+1), int64(0)
			for _, w := range rec.Warnings {
				if w.Code == "lines-merged" && strings.Contains(w.Text, "(lines added: ") {
					merged = lines - rec.Counts.Stacks
				}
			}
			if merged == 0 || rec.Counts.Stacks+merged != lines {
				t.Errorf("%d lines became %d records, and the warnings are %v", lines, rec.Counts.Stacks, rec.Warnings)
			}
		})
	}
}
