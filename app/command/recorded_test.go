package command

import (
	"cmp"
	"encoding/json"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"ashlar/app/command/difference"
	"ashlar/testdata/rounds"
)

const recorded = "../../testdata/recorded"

// perfLeaves reads the text of perf script and adds up periods by the innermost function
// outside the kernel.
func perfLeaves(t *testing.T, path string) map[string]int64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]int64{}
	for sample := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		lines := strings.Split(sample, "\n")
		// visits 20550   636.588761:    5025125 cpu-clock:
		period := strings.Fields(lines[0])[3]
		n, err := strconv.ParseInt(period, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines[1:] {
			// a97ad fmt.(*fmt).fmtInteger+0x42d (/usr/local/bin/visits)
			if strings.HasSuffix(line, "([kernel.kallsyms])") {
				continue
			}
			_, name, _ := strings.Cut(strings.TrimSpace(line), " ")
			name = name[:strings.LastIndex(name, " (")]
			if plus := strings.LastIndex(name, "+0x"); plus >= 0 {
				name = name[:plus]
			}
			sums[name] += n
			break
		}
	}
	return sums
}

// profileLeaves adds up a profile's nanoseconds by the innermost function, where inlined
// functions count for the function they were inlined into.
func profileLeaves(t *testing.T, path string) map[string]int64 {
	t.Helper()
	p := readProfile(t, path)
	sums := map[string]int64{}
	for _, s := range p.Sample {
		lines := s.Location[0].Line
		sums[lines[len(lines)-1].Function.Name] += s.Value[1]
	}
	return sums
}

// most returns the n functions with the largest sums.
func most(sums map[string]int64, n int) []string {
	var names []string
	for name := range sums {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) })
	return names[:n]
}

// TestRecordedTwice opens recordings of one run by two profilers. Each must match a naive
// reader, and both must agree on the ten heaviest functions.
func TestRecordedTwice(t *testing.T) {
	rounds.Unraced(t)
	for _, name := range []string{"before", "after"} {
		perf, pprof := filepath.Join(recorded, name+".perf.zst"), filepath.Join(recorded, name+".pb.gz")
		naive := []map[string]int64{perfLeaves(t, perf), profileLeaves(t, pprof)}
		var shares []map[string]float64
		for i, got := range []topJSON{
			topOf(t, perf, "--hide-kernel", "-n", "0"),
			topOf(t, pprof, "--metric", "cpu", "--fold-inlined", "-n", "0"),
		} {
			self, all := map[string]int64{}, int64(0)
			for _, r := range got.Rows {
				n, err := r.Self.Int64()
				if err != nil {
					t.Fatal(err)
				}
				self[r.Name] += n
			}
			for fn, n := range naive[i] {
				if all += n; self[fn] != n {
					t.Errorf("%s: %s has %d, naively %d", name, fn, self[fn], n)
				}
			}
			if rat(t, got.Total).Cmp(new(big.Rat).SetInt64(all)) != 0 {
				t.Errorf("%s: the total is %s, naively %d", name, got.Total, all)
			}
			share := map[string]float64{}
			for fn, n := range self {
				share[fn] = float64(n) / float64(all)
			}
			shares = append(shares, share)
		}
		for i, sums := range naive {
			for _, fn := range most(sums, 10) {
				a, b := shares[i][fn], shares[1-i][fn]
				if a > 3*b || b > 3*a {
					t.Errorf("%s: %s has %.1f %% of one recording and %.1f %% of the other", name, fn, 100*a, 100*b)
				}
			}
		}
	}
}

// TestRecordedChange compares recordings from before and after a change to a function: for
// both profilers, and after conversion to SPAA, that function must come first.
func TestRecordedChange(t *testing.T) {
	rounds.Unraced(t)
	dir := t.TempDir()
	pairs := map[string][2]string{}
	for _, ext := range []string{"perf.zst", "pb.gz"} {
		var plain, converted [2]string
		for i, name := range []string{"before", "after"} {
			plain[i] = filepath.Join(recorded, name+"."+ext)
			converted[i] = filepath.Join(dir, name+"."+ext+".spaa.zst")
			if r := run("convert", plain[i], converted[i]); r.code != Done {
				t.Fatal(r.stderr)
			}
		}
		pairs[ext] = plain
		pairs[ext+" as SPAA"] = converted
	}
	for what, pair := range pairs {
		t.Run(what, func(t *testing.T) {
			args := []string{"diff", "--json", pair[0], pair[1]}
			naive := perfLeaves
			if strings.HasPrefix(what, "pb.gz") {
				args = append(args, "--metric", "cpu")
				naive = profileLeaves
			}
			r := run(args...)
			if r.code != Done {
				t.Fatal(r.stderr)
			}
			var d difference.JSON
			if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
				t.Fatal(err)
			}
			const changed = "main.(*visitors).find"
			first := d.Rows[0]
			if first.Name != changed || first.Confidence == nil {
				t.Fatalf("the first row is %+v", first)
			}
			if sure, err := first.Confidence.Float64(); err != nil || sure < 0.999 {
				t.Errorf("only %s sure", *first.Confidence)
			}
			ext, _, _ := strings.Cut(what, " ")
			var want [2]int64
			for i, name := range []string{"before", "after"} {
				want[i] = naive(t, filepath.Join(recorded, name+"."+ext))[changed]
			}
			// This self is a little smaller than the naive one, because kernel frames have a self
			// of their own.
			a, err := first.ASelf.Int64()
			if err != nil || a > want[0] || a < want[0]*95/100 {
				t.Errorf("it took %s before, naively %d", first.ASelf, want[0])
			}
			b, err := first.BSelf.Int64()
			if err != nil || b > want[1] || want[1] > want[0]/20 {
				t.Errorf("it took %s after, naively %d", first.BSelf, want[1])
			}
		})
	}
}
