package locate

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestSides(t *testing.T) {
	dir := t.TempDir()
	late := func(name string, after time.Duration) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(1e9, 0).Add(after)
		if err := os.Chtimes(p, at, at); err != nil {
			t.Fatal(err)
		}
		return p
	}
	x, y := late("x.pb.gz", time.Hour), late("y.pb.gz", 0)
	for _, c := range []struct {
		files []string
		names [2]string
		count [2]int
	}{
		{[]string{"/r/new/10.pb", "/r/new/9.pb", "/r/old/1.pb"}, [2]string{"old", "new"}, [2]int{1, 2}},
		{[]string{"/r/run-after-1.pb", "/r/run-before-1.pb", "/r/run-before-2.pb"}, [2]string{"run-before", "run-after"}, [2]int{2, 1}},
		{[]string{x, y}, [2]string{"y", "x"}, [2]int{1, 1}}, // the older one first
		{[]string{"/r/a-1.pb", "/r/a-2.pb"}, [2]string{}, [2]int{}},
		{[]string{"/r/a.pb", "/r/b.pb", "/r/c.pb"}, [2]string{}, [2]int{}},
	} {
		got, ok := Sides(c.files)
		if ok != (c.names[0] != "") || got[0].Name != c.names[0] || got[1].Name != c.names[1] || len(got[0].Files) != c.count[0] || len(got[1].Files) != c.count[1] {
			t.Errorf("%v: %+v, %v", c.files, got, ok)
		}
	}
	got, _ := Sides([]string{"/r/new/10.pb", "/r/new/9.pb", "/r/old/1.pb"})
	if !slices.Equal(got[1].Files, []string{"/r/new/9.pb", "/r/new/10.pb"}) {
		t.Errorf("new runs are %v", got[1].Files)
	}
}
