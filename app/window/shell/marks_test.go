package shell

import (
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"ashlar/app/core/settings"
	"ashlar/app/core/view"
	"ashlar/app/window/marks"
	"ashlar/ingest/model/recording"
	"ashlar/render/theme"
)

// inStore is a Keep that writes marks to a store at once.
type inStore struct {
	keptNote
	st *settings.Store
}

func (k *inStore) Marks(key string) ([]view.Mark, error) { return k.st.Marks(key) }

func (k *inStore) ChangeMarks(key, name string, f func([]view.Mark) []view.Mark) {
	if err := k.st.ChangeMarks(key, name, f); err != nil {
		panic(err)
	}
}

// openDemoWith opens the demo and waits for its marks.
func openDemoWith(t *testing.T, k Keep) *Shell {
	t.Helper()
	s := New(theme.Dark)
	s.Keep = k
	s.OpenDemo()
	if err := s.Finish(); err != nil {
		t.Fatal(err)
	}
	s.Pane.History.Push(s.Pane.Spot(&s.Workspace), s.ViewState()) // as the first frame does
	for range 5000 {
		if s.keep(); s.Pane.MarkList.Key != "" {
			return s
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("the marks were not read")
	return nil
}

func texts(ms []view.Mark) (ts []string) {
	for _, m := range ms {
		ts = append(ts, m.Text)
	}
	return ts
}

func TestMarksAreKeptAndUndone(t *testing.T) {
	k := &inStore{st: settings.In("", t.TempDir())}
	s := openDemoWith(t, k)
	p := s.Pane
	key := p.MarkList.Key
	p.MarkList.Add(view.NewMark(view.Place{From: 5e11, To: 5e11}, "late"))
	p.History.Push(p.Spot(&s.Workspace), s.ViewState())
	p.MarkList.Add(view.NewMark(view.Place{From: 1e11, To: 2e11}, "early"))
	s.keep()
	onDisk := func() []string {
		ms, err := k.st.Marks(key)
		if err != nil {
			t.Fatal(err)
		}
		return texts(ms)
	}
	if got := onDisk(); !slices.Equal(got, []string{"late", "early"}) {
		t.Errorf("on the disk is %q", got)
	}
	s.Step(-1)
	s.keep()
	if got := onDisk(); !slices.Equal(got, []string{"late"}) {
		t.Errorf("after undo is %q", got)
	}
	s.Step(1)
	p.MarkList.Delete(&s.Host, p.Marks[0])
	s.keep()
	if got := onDisk(); !slices.Equal(got, []string{"early"}) {
		t.Errorf("after redo and deletion is %q", got)
	}
	s.Close()

	// Marks are there in the next window, and undo does not remove them.
	s = openDemoWith(t, k)
	defer s.Close()
	p = s.Pane
	if got := texts(p.Marks); !slices.Equal(got, []string{"early"}) {
		t.Errorf("the next window has %q", got)
	}
	s.Step(-1)
	s.keep()
	if got := onDisk(); !slices.Equal(got, []string{"early"}) {
		t.Errorf("undo in the next window leaves %q", got)
	}
	p.MarkList.GoTo(&s.Host, p.Marks[0])
	if want := (recording.Between(p.Rec.Start+1e11, p.Rec.Start+2e11)); !reflect.DeepEqual(p.Scope, want) {
		t.Errorf("going to a range selects %+v", p.Scope)
	}
}

// TestDifferenceMerges checks that changes made to marks in two windows are merged as if
// made in one.
func TestDifferenceMerges(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 5))
		var base []view.Mark
		for range r.IntN(6) {
			base = append(base, view.NewMark(view.Place{}, "base"))
		}
		// Each window deletes, changes and adds marks of its own.
		edit := func(which int) (now []view.Mark) {
			for i, m := range base {
				if i%2 == which && r.IntN(3) == 0 {
					continue
				}
				if i%2 == which && r.IntN(3) == 0 {
					m.Text = "changed"
				}
				now = append(now, m)
			}
			for range r.IntN(3) {
				now = append(now, view.NewMark(view.Place{}, "new"))
			}
			return now
		}
		a, b := edit(0), edit(1)
		disk := marks.Changes(base, b)(marks.Changes(base, a)(slices.Clone(base)))
		for i, m := range base {
			window := a
			if i%2 == 1 {
				window = b
			}
			in := func(of []view.Mark) int {
				return slices.IndexFunc(of, func(x view.Mark) bool { return x.ID == m.ID })
			}
			w, d := in(window), in(disk)
			if (w < 0) != (d < 0) || w >= 0 && window[w].Text != disk[d].Text {
				t.Fatalf("seed %d: mark %d is %d of its window and %d on the disk", seed, i, w, d)
			}
		}
		news := 0
		for _, m := range append(slices.Clone(a), b...) {
			if m.Text == "new" {
				news++
			}
		}
		for _, m := range disk {
			if m.Text == "new" {
				news--
			}
		}
		if news != 0 {
			t.Fatalf("seed %d: %d new marks were lost", seed, news)
		}
	}
}

func TestMarksOfAPipeAndAFolder(t *testing.T) {
	if key, err := settings.FileKey(t.TempDir()); key != "" || err != nil {
		t.Errorf("a folder has the key %q, %v", key, err)
	}
	if _, err := settings.FileKey(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("what is not there has a key")
	}
}
