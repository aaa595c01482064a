package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ashlar/app/core/view"
	"ashlar/app/desktop/filelock"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare/match"
	"ashlar/testdata/rounds"
)

// writerDir is the environment variable with a folder in which the test binary then changes
// settings and marks until it is killed.
const writerDir = "ASHLAR_STORE_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerDir); dir != "" {
		write(In(filepath.Join(dir, "c"), filepath.Join(dir, "d")), 1<<30)
	}
	os.Exit(m.Run())
}

var key = strings.Repeat("0a", 32)

// write makes n changes of varying size. Folder holds the number of recents and Theme the
// number of changes, so that whole detects a torn file.
func write(s *Store, n int) {
	for range n {
		err := s.ChangeSettings(func(v *Settings) {
			var count int
			fmt.Sscan(v.Theme, &count)
			v.Theme = fmt.Sprint(count + 1)
			v.Recents = nil
			for i := range count*7919%200 + 1 {
				v.Recents = append(v.Recents, Recent{Path: strings.Repeat("x", i)})
			}
			v.Folder = fmt.Sprint(len(v.Recents))
		})
		if err == nil {
			err = s.ChangeMarks(key, "n", func(m []view.Mark) []view.Mark {
				if len(m) > 60 {
					m = nil
				}
				return append(m, view.NewMark(view.Place{From: int64(len(m))}, "note"))
			})
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// whole reads the settings and checks that they are the result of a single change.
func whole(t *testing.T, s *Store) (changes int) {
	t.Helper()
	v, err := s.Settings()
	if err != nil {
		t.Fatal(err)
	}
	if v.Theme != "" {
		fmt.Sscan(v.Theme, &changes)
		if v.Folder != fmt.Sprint(len(v.Recents)) || changes == 0 {
			t.Fatalf("the settings are torn: %q recents where there are %d", v.Folder, len(v.Recents))
		}
	}
	marks, err := s.Marks(key)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range marks {
		if m.From != int64(i) || m.Text != "note" {
			t.Fatalf("the marks are torn: %+v at place %d", m, i)
		}
	}
	if n := s.Notes(); n != nil {
		t.Fatalf("something was set aside: %s", n)
	}
	return changes
}

func TestKilledAtAnyMomentFilesAreWhole(t *testing.T) {
	rounds.Unraced(t)
	dir := t.TempDir()
	s := In(filepath.Join(dir, "c"), filepath.Join(dir, "d"))
	r := rand.New(rand.NewPCG(1, 1))
	last, grown := 0, 0
	latest := 70 // milliseconds; grows if writers need longer to start
	for range 25 {
		var procs []*exec.Cmd
		for range 2 {
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), writerDir+"="+dir)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			procs = append(procs, c)
		}
		time.Sleep(time.Duration(10+r.IntN(latest-10)) * time.Millisecond)
		for _, c := range procs {
			c.Process.Kill()
			c.Wait()
		}
		n := whole(t, s)
		if n < last {
			t.Fatalf("after %d changes there are %d", last, n)
		}
		if n > last {
			grown++
		} else {
			latest = min(2*latest, 5000)
		}
		last = n
	}
	if grown == 0 {
		t.Fatal("nothing was written before the writers were killed")
	}
	t.Logf("%d changes in %d rounds", last, grown)
	write(s, 1) // the next change removes files of killed writers
	for _, d := range []string{"c", "d/marks"} {
		if left, _ := filepath.Glob(filepath.Join(dir, d, "*.tmp")); len(left) > 0 {
			t.Errorf("left behind: %s", left)
		}
	}
}

func TestConcurrentInstancesLoseNothing(t *testing.T) {
	dir := t.TempDir()
	instances, each := 6, 20
	if runtime.GOOS == "windows" {
		// Saving is slow under Wine, and the order in which instances get the lock is chance.
		instances, each = 3, 5
	}
	var wg sync.WaitGroup
	for range instances {
		wg.Go(func() { write(In(filepath.Join(dir, "c"), filepath.Join(dir, "d")), each) })
	}
	wg.Wait()
	if n := whole(t, In(filepath.Join(dir, "c"), filepath.Join(dir, "d"))); n != instances*each {
		t.Errorf("%d changes are there, want %d", n, instances*each)
	}
}

func TestSettingsComeBack(t *testing.T) {
	dir := t.TempDir()
	s := In(dir, dir)
	want := Settings{Theme: "dark", Window: &Window{1280, 800, true},
		Folder: "/x", SourceRoots: []SourceRoot{{"/build", "/src"}}}
	if err := s.ChangeSettings(func(v *Settings) { *v = want }); err != nil {
		t.Fatal(err)
	}
	got, err := In(dir, dir).Settings()
	if err != nil {
		t.Fatal(err)
	}
	got.other = nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if none, err := In(t.TempDir(), dir).Settings(); err != nil || !reflect.DeepEqual(none, Settings{}) {
		t.Errorf("a new user has %+v, %v", none, err)
	}
}

// TestTextsOfSettings checks that settings of the view are restored, also from older files,
// where some values have other types.
func TestTextsOfSettings(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "settings.json"), []byte(`{"colour":"kind","columns":["self","file"],"split":0.25,"compare":"above","sort":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	texts := func() string {
		v, err := In(dir, dir).Settings()
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%q", []string{v.Text("colour"), v.Text("columns"), v.Text("split"), v.Text("layout"), v.Text("sort"), v.Text("none")})
	}
	if got := texts(); got != `["kind" "self,file" "0.25" "above" "" ""]` {
		t.Error(got)
	}
	if err := In(dir, dir).ChangeSettings(func(v *Settings) {
		v.SetText("colour", "")
		v.SetText("layout", "")
		v.SetText("sort", "-total")
	}); err != nil {
		t.Fatal(err)
	}
	if got := texts(); got != `["" "self,file" "0.25" "" "-total" ""]` {
		t.Error(got)
	}
}

// TestKnownKeysAreThoseOfSettings checks that known lists every field. A missing key would be
// written twice.
func TestKnownKeysAreThoseOfSettings(t *testing.T) {
	typ := reflect.TypeFor[Settings]()
	var keys []string
	for i := range typ.NumField() {
		if tag := typ.Field(i).Tag.Get("json"); tag != "" {
			keys = append(keys, strings.TrimSuffix(tag, ",omitempty"))
		}
	}
	if !reflect.DeepEqual(keys, known) {
		t.Errorf("known are %v, the fields are %v", known, keys)
	}
}

func TestUnknownKeysAreKept(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "settings.json")
	if err := os.WriteFile(path, []byte(`{"theme":"light","from_the_future":{"a":[1,2]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := In(dir, dir).ChangeSettings(func(v *Settings) { v.Theme = "dark" }); err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	b, _ := os.ReadFile(path)
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	if all["theme"] != "dark" || fmt.Sprint(all["from_the_future"]) != "map[a:[1 2]]" {
		t.Errorf("%v", all)
	}
}

func TestBrokenFilesAreSetAside(t *testing.T) {
	for _, content := range []string{"", "{", `{"theme": 7}`, "null", "[]", "\x00\x00\x00", `{"theme":"dark"} more`} {
		dir := t.TempDir()
		path := filepath.Join(dir, "settings.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		s := In(dir, dir)
		v, err := s.Settings()
		if err != nil || v.Theme != "" {
			t.Errorf("%q gives %+v, %v", content, v, err)
		}
		notes := s.Notes()
		aside, _ := filepath.Glob(path + ".broken-*")
		if len(notes) != 1 || len(aside) != 1 || !strings.Contains(notes[0], filepath.Base(aside[0])) {
			t.Fatalf("%q: notes %q, set aside %q", content, notes, aside)
		}
		if b, _ := os.ReadFile(aside[0]); string(b) != content {
			t.Errorf("%q was changed to %q", content, b)
		}
		if err := s.Opened("x", time.Now()); err != nil || s.Notes() != nil {
			t.Errorf("%q: settings cannot be written afterwards: %v", content, err)
		}
	}
}

func TestRecents(t *testing.T) {
	dir := t.TempDir()
	s := In(dir, dir)
	for i := range mostRecents + 5 {
		if err := s.Opened(filepath.Join(dir, fmt.Sprint(i)), time.Unix(int64(i), 0)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Opened(filepath.Join(dir, "20"), time.Unix(99, 0)); err != nil {
		t.Fatal(err)
	}
	v, err := s.Settings()
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Recents) != mostRecents || filepath.Base(v.Recents[0].Path) != "20" || filepath.Base(v.Recents[1].Path) != "34" || v.Folder != dir {
		t.Errorf("%+v", v.Recents)
	}
	for i, r := range v.Recents[1:] {
		if filepath.Base(r.Path) == "20" {
			t.Errorf("20 is there again, at %d", i+1)
		}
	}
}

func TestMarksGoFromOneToAnother(t *testing.T) {
	a, b := In("", t.TempDir()), In("", t.TempDir())
	one := view.NewMark(view.Place{From: 5, To: 5}, "here")
	two := view.NewMark(view.Place{Func: &recording.FuncName{Name: "f", Module: "m"}}, "slow <f>")
	if err := a.ChangeMarks(key, "run.spall", func([]view.Mark) []view.Mark { return []view.Mark{one, two} }); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := a.Export(&out, key, "run.spall"); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second import changes nothing
		if _, other, err := b.Import(bytes.NewReader(out.Bytes()), key, "copy.spall"); err != nil || other != "" {
			t.Fatal(other, err)
		}
	}
	got, err := b.Marks(key)
	if err != nil || !reflect.DeepEqual(got, []view.Mark{one, two}) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, other, err := b.Import(&out, strings.Repeat("f", 64), ""); err != nil || other != "run.spall" {
		t.Errorf("marks of another recording: %q, %v", other, err)
	}
	for _, bad := range []string{"", "{}", `{"format":"ashlar-marks","version":2}`, "[]", "null"} {
		if _, _, err := b.Import(strings.NewReader(bad), key, ""); err == nil {
			t.Errorf("%q was imported", bad)
		}
	}
	for bad, want := range map[string]string{
		"[]":                                    "not a file of marks: it is a JSON array instead of an object",
		"{":                                     "not a file of marks: unexpected end of JSON input (byte 1)",
		`{"marks": 5}`:                          `not a file of marks: "marks" must not be a number (byte 11)`,
		`{"marks": [{"from_ps": "x"}]}`:         `not a file of marks: "from_ps" must not be a string (byte 26)`,
		`{"marks": [{"created": "yesterday"}]}`: `not a file of marks: "yesterday" is not a time such as "2026-01-31T12:00:00Z"`,
	} {
		if _, _, err := b.Import(strings.NewReader(bad), key, ""); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", bad, err, want)
		}
	}
	if _, err := a.Marks("../../etc/passwd"); err == nil {
		t.Error("a key that is a path was taken")
	}
}

func TestKeyIsOfTheContent(t *testing.T) {
	of := func(b []byte) string {
		k, err := Key(bytes.NewReader(b), int64(len(b)))
		if err != nil || !isKey.MatchString(k) {
			t.Fatal(k, err)
		}
		return k
	}
	for _, size := range []int{0, 1, 1000, keyBlock * keyBlocks, keyBlock*keyBlocks + 1, 9 << 20} {
		b := make([]byte, size)
		k := of(b)
		if of(append(bytes.Clone(b), 0)) == k {
			t.Errorf("%d bytes have the key of %d", size, size+1)
		}
		if size == 0 {
			continue
		}
		for _, i := range []int{0, size - 1} {
			c := bytes.Clone(b)
			c[i] = 1
			if of(c) == k {
				t.Errorf("byte %d of %d does not matter", i, size)
			}
		}
	}
	if _, err := Key(failing{}, 100); err == nil {
		t.Error("a file that cannot be read has a key")
	}
}

type failing struct{}

func (failing) ReadAt([]byte, int64) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestPairs checks that a pair is stored once, in whichever order it is given, and can be
// removed.
func TestPairs(t *testing.T) {
	var s Settings
	s.SetPair(match.Pair{A: "old", B: "new"}, true)
	s.SetPair(match.Pair{A: "new", B: "old"}, true)
	s.SetPair(match.Pair{A: "a", B: "b@lib"}, true)
	if len(s.Pairs) != 2 || s.Pairs[0] != (match.Pair{A: "new", B: "old"}) {
		t.Errorf("the pairs are %v", s.Pairs)
	}
	s.SetPair(match.Pair{A: "old", B: "new"}, false)
	if len(s.Pairs) != 1 || s.Pairs[0] != (match.Pair{A: "a", B: "b@lib"}) {
		t.Errorf("without one the pairs are %v", s.Pairs)
	}
}

// TestHeldLock checks that a change fails instead of blocking if another program never
// releases the lock.
func TestHeldLock(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "settings.json.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if held, err := filelock.Try(f); !held {
		t.Skip("no locks here:", err)
	}
	err = In(dir, dir).Opened("x", time.Now())
	if err == nil || !strings.Contains(err.Error(), "settings.json.lock: not saved: another program has held the lock for 3s") {
		t.Errorf("with the lock held: %v", err)
	}
	f.Close()
	if err := In(dir, dir).Opened("x", time.Now()); err != nil {
		t.Error(err)
	}
}

// TestRecentURL checks that recent URLs are stored without credentials.
func TestRecentURL(t *testing.T) {
	dir := t.TempDir()
	s := In(dir, dir)
	if err := s.Opened("http://user:secret@host/profile?token=abc&seconds=5", time.Now()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "settings.json"))
	if err != nil || bytes.Contains(b, []byte("secret")) || bytes.Contains(b, []byte("abc")) {
		t.Errorf("the settings are %s (%v)", b, err)
	}
	v, err := s.Settings()
	if err != nil || len(v.Recents) != 1 || v.Recents[0].Path != "http://host/profile?token=xxxxx&seconds=5" || v.Folder != "" {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestNamesAreRemembered checks that the settings for a file's names survive opening it again.
func TestNamesAreRemembered(t *testing.T) {
	path := func(name string) string { // absolute, also on Windows
		p, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	a, b := path("/a"), path("/b")
	var v Settings
	v.SetNames(a, true, "x") // no effect: the file is not among the recents
	v.AddRecent(a, time.Unix(1, 0))
	v.AddRecent(b, time.Unix(2, 0))
	was := v.Recents
	v.SetNames(a, true, "/^main/")
	if was[1].Folded || was[1].Mine != "" {
		t.Error("an earlier list was changed")
	}
	v.AddRecent(a, time.Unix(3, 0))
	want := []Recent{{a, time.Unix(3, 0).UTC(), true, "/^main/"}, {b, time.Unix(2, 0).UTC(), false, ""}}
	if !slices.Equal(v.Recents, want) {
		t.Errorf("got %v, want %v", v.Recents, want)
	}
}
