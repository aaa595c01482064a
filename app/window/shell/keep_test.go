package shell

import (
	"testing"
	"time"

	"ashlar/app/core/settings"
	"ashlar/app/core/view"
	"ashlar/app/window/panel/functions"
	"ashlar/app/window/workspace"
	"ashlar/ingest/query/compare/match"
	"ashlar/render/theme"
)

// keptNote is a Keep that records its calls.
type keptNote struct {
	was, now workspace.Prefs
	times    int
	opened   []string
	folded   []bool
	queries  settings.Settings
}

func (k *keptNote) Recents() []Recent  { return nil }
func (k *keptNote) Opened(path string) { k.opened = append(k.opened, path) }
func (k *keptNote) Folder() string     { return "" }

func (k *keptNote) SetNames(path string, folded bool, _ string) { k.folded = append(k.folded, folded) }

func (k *keptNote) Pairs() []match.Pair           { return nil }
func (k *keptNote) SetPair(_ match.Pair, on bool) {}

func (k *keptNote) Queries() (saved []settings.Query, ran []string) {
	return k.queries.Queries, k.queries.Ran
}
func (k *keptNote) SaveQuery(q settings.Query) error { return k.queries.SaveQuery(q) }
func (k *keptNote) RanQuery(sql string)              { k.queries.RanQuery(sql) }

func (k *keptNote) Marks(string) ([]view.Mark, error) { return nil, nil }

func (k *keptNote) ChangeMarks(string, string, func([]view.Mark) []view.Mark) {}

func (k *keptNote) Prefer(was, now workspace.Prefs) {
	k.was, k.now = was, now
	k.times++
}

func TestOnlyChangesAreKept(t *testing.T) {
	k := new(keptNote)
	s := New(theme.Dark)
	defer s.Close()
	s.Keep = k
	s.Prefer(workspace.Prefs{Theme: "light", Look: view.Kept{"sort": "total", "colour": "no such mode", "split": "no number"}})
	if s.Theme != theme.Light || s.Mode != theme.ByFunction {
		t.Errorf("the theme is %s, colours are by %s", s.Theme.Name, s.Mode)
	}
	s.keep()
	s.OpenDemo()
	s.keep()
	if k.times != 0 || s.Pane.Table.By != functions.ColTotal {
		t.Errorf("kept %d times, sorted by %d", k.times, s.Pane.Table.By)
	}
	s.nextMode()
	s.Pane.Table.By = functions.ColCount
	s.keep()
	s.keep()
	if k.times != 1 || k.now.Look["colour"] != string(theme.ByPackage) || k.now.Look["sort"] != "count" || k.was.Look["sort"] != "total" || k.now.Theme != "light" {
		t.Errorf("kept %d times, last %+v after %+v", k.times, k.now, k.was)
	}
	s.OpenDemo() // the next recording gets the same settings
	s.keep()
	if k.times != 1 || s.Pane.Table.By != functions.ColCount {
		t.Errorf("kept %d times, sorted by %d", k.times, s.Pane.Table.By)
	}
	if k.opened != nil {
		t.Errorf("the built-in recording is listed as opened: %s", k.opened)
	}
}

func TestAgo(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "just now", -time.Hour: "just now", 90 * time.Second: "1 minute ago", 3 * time.Hour: "3 hours ago", 49 * time.Hour: "2 days ago", 800 * 24 * time.Hour: "2 years ago",
	} {
		if got := ago(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}
