package command

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/samples"
)

// goTool runs go tool pprof and returns its output, nil if nothing matched.
func goTool(t *testing.T, args ...string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	cmd := exec.Command(decodetest.GoTool(t, "pprof"), append([]string{"-symbolize=none", "-output=" + out}, args...)...)
	// By default pprof would save copies in the home folder.
	cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	if b, err := cmd.CombinedOutput(); err != nil {
		if bytes.Contains(b, []byte("no matches found")) {
			return nil
		}
		t.Fatalf("go tool pprof %q: %v\n%s", args, err, b)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// listProfile returns a profile's stacks as function names, with the values of the last sample
// type. It returns false if a location has no function.
func listProfile(p *profile.Profile) ([]listed, bool) {
	var all []listed
	for _, s := range p.Sample {
		l := listed{self: s.Value[len(s.Value)-1], count: 1}
		for _, loc := range s.Location {
			if len(loc.Line) == 0 {
				return nil, false
			}
			for i, line := range loc.Line {
				if line.Function == nil || line.Function.Name == "" {
					return nil, false
				}
				l.frames = append(l.frames, listedFrame{name: line.Function.Name, inlined: i < len(loc.Line)-1})
			}
		}
		slices.Reverse(l.frames)
		all = append(all, l)
	}
	return all, true
}

// goProfiles returns the small sample profiles in which both programs know all functions, by
// path.
func goProfiles(t *testing.T) map[string][]listed {
	samples.Need(t)
	if testing.Short() {
		t.Skip("runs another program many times")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go tool to compare with")
	}
	out := map[string][]listed{}
	for name, b := range samples.Each(t, "pprof/*", "generated/*.pprof") {
		path := samples.Path(t, name)
		p, err := profile.ParseData(b)
		if err != nil || len(b) > 20_000 || ask("top", path).code != Done {
			continue
		}
		if all, ok := listProfile(p); ok && len(all) > 0 {
			out[path] = all
		}
	}
	if len(out) < 3 {
		t.Fatalf("only %d profiles can be compared", len(out))
	}
	return out
}

// pick returns a function with a large but not the largest total.
func pick(all []listed) []string {
	sums := sumBy(all, func(f listedFrame) string { return f.name })
	var names []string
	for n := range sums {
		names = append(names, n)
	}
	sort.Slice(names, func(i, j int) bool {
		a, b := sums[names[i]], sums[names[j]]
		return a.total > b.total || a.total == b.total && names[i] < names[j]
	})
	return []string{names[len(names)/6]}
}

// TestAgainstGoTool compares flags with their counterparts in go tool pprof: --focus with
// -focus, --drop with -ignore, --hide with -hide (which also discards stacks that are hidden
// completely), --show-from and, for a single function, --callees-of with -show_from, and
// --fold-inlined with -noinlines.
func TestAgainstGoTool(t *testing.T) {
	for path, all := range goProfiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			p := readProfile(t, path)
			metric := p.SampleType[len(p.SampleType)-1].Type
			check := func(theirs, ours []string) {
				t.Helper()
				var want []listed
				if b := goTool(t, append(theirs, "-proto", path)...); b != nil {
					left, err := profile.ParseData(b)
					if err != nil {
						t.Fatal(err)
					}
					want, _ = listProfile(left)
				}
				want = slices.DeleteFunc(want, func(l listed) bool { return l.self == 0 })
				v := viewOf(t, append([]string{path, "--metric", metric, "--tree", "-n", "0"}, ours...)...)
				rows := slices.DeleteFunc(v.Rows, func(r viewRow) bool { return r.Name == "[no stack]" })
				for i := range rows {
					rows[i].Module = "" // go tool pprof knows only names
				}
				got, wanted := rowSums(t, rows, new(recording.Metric), pathsIn(rows)), sumPaths(want)
				for _, m := range []map[string]listedSum{got, wanted} {
					for k, s := range m { // go tool pprof merges equal stacks
						if s.count = 0; s == (listedSum{}) {
							delete(m, k)
						} else {
							m[k] = s
						}
					}
				}
				sameListed(t, strings.Join(theirs, " "), got, wanted)
			}
			for _, name := range pick(all) {
				exact := "^" + regexp.QuoteMeta(name) + "$"
				check([]string{"-focus=" + exact}, []string{"--focus", name})
				check([]string{"-ignore=" + exact}, []string{"--drop", name})
				check([]string{"-hide=" + exact}, []string{"--hide", name})
				check([]string{"-show_from=" + exact}, []string{"--callees-of", name})
				check([]string{"-show_from=" + exact}, []string{"--show-from", "name:/" + exact + "/"})
			}
			check([]string{"-noinlines"}, []string{"--fold-inlined"})
		})
	}
}

var peekLine = regexp.MustCompile(`^ *(-?\d+)\S* +\S+ \|   (.+?)( \(inline\))?$`)

// ownLine matches the line of the function itself; the lines of other functions are indented
// further.
var ownLine = regexp.MustCompile(`% +\| [^ ]`)

// TestAgainstPeek compares callers and callees with go tool pprof -peek, which omits direct
// recursion.
func TestAgainstPeek(t *testing.T) {
	compared := 0
	for path, all := range goProfiles(t) {
		p := readProfile(t, path)
		last := p.SampleType[len(p.SampleType)-1]
		for _, name := range pick(all) {
			text := string(goTool(t, "-peek=^"+regexp.QuoteMeta(name)+"$", "-sample_index="+last.Type, "-unit="+last.Unit, "-nodefraction=0", "-edgefraction=0", path))
			sides := [2]map[string]listedSum{{}, {}}
			// Callers are listed above the function's own line.
			side := 0
			for line := range strings.Lines(text) {
				line = strings.TrimRight(line, "\n")
				if ownLine.MatchString(line) {
					side = 1
				}
				if m := peekLine.FindStringSubmatch(line); m != nil {
					n, err := strconv.ParseInt(m[1], 10, 64)
					if err != nil {
						t.Fatal(err)
					}
					sides[side][m[2]] = listedSum{total: n}
				}
			}
			for i, flag := range []string{"--callers-of", "--callees-of"} {
				got := map[string]listedSum{}
				for _, r := range viewOf(t, path, "--metric", last.Type, flag, name).Rows {
					if n := whole(t, r.Total, new(recording.Metric)); n != 0 && r.Name != name && r.Name != "[outermost]" {
						got[r.Name] = listedSum{total: got[r.Name].total + n}
					}
				}
				compared += len(got)
				sameListed(t, filepath.Base(path)+" "+flag+" "+name, got, sides[i])
			}
		}
	}
	if compared < 20 {
		t.Errorf("only %d callers and callees were compared", compared)
	}
}

// readProfile reads a profile with pprof's own reader.
func readProfile(t *testing.T, path string) *profile.Profile {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.ParseData(b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
