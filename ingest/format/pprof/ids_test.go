package pprof

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// wire encodes a message from pairs of a field number and a value.
func wire(parts ...any) (b []byte) {
	for i := 0; i < len(parts); i += 2 {
		num := protowire.Number(parts[i].(int))
		switch v := parts[i+1].(type) {
		case int:
			b = protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), uint64(v))
		case string:
			b = protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), v)
		case []byte:
			b = protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), v)
		}
	}
	return b
}

// unnumbered returns a profile of three functions a, b and c with the given ids, and one
// location for each entry of lines, which lists the function ids of its lines. Each
// location has one sample, of weight 1, 10, 100 and so on.
func unnumbered(ids []int, lines [][]int) []byte {
	b := wire(1, wire(1, 1, 2, 2), 6, "", 6, "cpu", 6, "ns", 6, "a", 6, "b", 6, "c")
	weight := 1
	for i, ls := range lines {
		b = append(b, wire(2, wire(1, i+1, 2, weight))...)
		weight *= 10
		loc := wire(1, i+1, 3, 0x1000+i)
		for _, id := range ls {
			line := wire(2, 7)
			if id != 0 {
				line = wire(1, id, 2, 7)
			}
			loc = append(loc, wire(4, line)...)
		}
		b = append(b, wire(4, loc)...)
	}
	for i, id := range ids {
		fn := wire(2, 3+i)
		if id != 0 {
			fn = wire(1, id, 2, 3+i)
		}
		b = append(b, wire(5, fn)...)
	}
	return b
}

// TestFunctionIDs reads profiles whose functions have no valid ids.
func TestFunctionIDs(t *testing.T) {
	none := []int{0, 0, 0}
	const taken = "None of the profile's 3 functions has an id; their position is used"
	for _, c := range []struct {
		name       string
		ids        []int
		lines      [][]int
		want, warn string
	}{
		{"as it should be", []int{5, 6, 7}, [][]int{{5}, {7}, {6, 5}}, "a=1 c=10 a;b=100", ""},
		{"by position from 1", none, [][]int{{1}, {3}, {2, 1}}, "a=1 c=10 a;b=100", taken},
		{"by position from 0", none, [][]int{{0}, {2}, {1, 0}}, "a=1 c=10 a;b=100", taken},
		{"by that of the location", none, [][]int{{0}, {0}, {0}}, "a=1 b=10 c=100", taken},
		{"lost", none, [][]int{{0}, {0}}, "0x1000=1 0x1001=10", "None of the profile's 3 functions has an id, and source lines do not refer to them; their names cannot be shown"},
		{"far beyond", none, [][]int{{1}, {9}}, "0x1000=1 0x1001=10", "None of the profile's 3 functions has an id, and source lines do not refer to them; their names cannot be shown"},
		{"missing", []int{5, 6, 7}, [][]int{{5}, {9}}, "a=1 0x1001=10", "Functions of source lines are missing from the profile (1 line); they are shown as addresses"},
		{"twice", []int{5, 5, 7}, [][]int{{7}}, "c=1", "Several functions have the id 5; some names may be wrong"},
	} {
		r, err := decodeBytes(t, unnumbered(c.ids, c.lines))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for i := range r.Stacks[0].Len() {
			var names []string
			for _, call := range r.Calls.Path(nil, r.Stacks[0].Call(i)) {
				names = append(names, r.FuncName(call))
			}
			got = append(got, fmt.Sprintf("%s=%d", strings.Join(names, ";"), r.Stacks[0].Value(i, 0)))
		}
		warn := ""
		for _, w := range r.Warnings {
			warn += w.Text
		}
		if strings.Join(got, " ") != c.want || warn != c.warn {
			t.Errorf("%s: got %s, %q\nwant %s, %q", c.name, got, warn, c.want, c.warn)
		}
	}
}

// TestNothingKnown checks the names of locations without a function: by binary and address
// as far as these are known.
func TestNothingKnown(t *testing.T) {
	b := wire(1, wire(1, 1, 2, 2), 6, "", 6, "cpu", 6, "ns", 6, "/lib/x.so", 3, wire(1, 1, 2, 0x4000, 3, 0x8000, 4, 0x200, 5, 3), 3, wire(1, 2, 5, 3),
		4, wire(1, 1), 4, wire(1, 2, 2, 2), 4, wire(1, 3, 2, 1, 3, 0x4010), 4, wire(1, 4, 2, 2, 3, 0x4010), 4, wire(1, 5, 2, 1, 3, 0x9000),
		2, wire(1, 1, 2, 1), 2, wire(1, 2, 2, 1), 2, wire(1, 3, 2, 1), 2, wire(1, 4, 2, 1), 2, wire(1, 5, 2, 1))
	r, err := decodeBytes(t, b)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range r.Stacks[0].Len() {
		got = append(got, r.FuncName(r.Stacks[0].Call(i)))
	}
	if want := "<unknown> [x.so] x.so+0x210 0x4010 0x9000"; strings.Join(got, " ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, " "), want)
	}
}
