package encode

import (
	"strings"
	"testing"
)

// TestLimit checks which sizes are refused, mentioned or neither.
func TestLimit(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit Limit
		size  int64
		err   string // part of the error, "" for none
		told  bool
	}{
		{"small", Limit{Free: 1 << 40}, 99e6, "", false},
		{"some hundred megabytes of a small file", Limit{Input: 1e6, Free: 1 << 40}, 5e8, "", true},
		{"ten times the input", Limit{Input: 1e9, Free: 1 << 40}, 1e10, "", false},
		{"more than ten times the input", Limit{Input: 1e9, Free: 1 << 40, Flag: "--large"}, 2e10, "or add --large", false},
		{"in the window", Limit{Input: 1e9, Free: 1 << 40}, 2e10, "(.spall, .json)", false},
		{"allowed", Limit{Input: 1e9, Free: 1 << 40, Large: true}, 2e10, "", true},
		{"allowed, but the disk is full", Limit{Input: 1e9, Free: 1e9, Large: true}, 2e10, "only 1.0 GB free", false},
		{"a full disk and a large input", Limit{Input: 1e12, Free: 1e9}, 2e10, "only 1.0 GB free", false},
		{"a full disk below a compressed file", Limit{Input: 1e12, Free: -1}, 2e10, "", false},
		{"a pipe", Limit{Input: -1, Free: -1}, 2e9, "2.0 GB", false},
	} {
		var said string
		c.limit.Say = func(s string) { said = s }
		err := c.limit.expect(c.size, 7, 8e6)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", c.name, err, c.err)
		}
		if (said != "") != c.told {
			t.Errorf("%s: it says %q", c.name, said)
		}
	}
	var none *Limit
	if err := none.expect(1<<60, 1, 1); err != nil {
		t.Error(err)
	}
}
