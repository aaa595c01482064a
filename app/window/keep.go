package window

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"gioui.org/app"
	"gioui.org/unit"

	"ashlar/app/core/settings"
	"ashlar/app/core/sourcefile"
	"ashlar/app/core/view"
	"ashlar/app/window/panel"
	"ashlar/app/window/shell"
	"ashlar/app/window/workspace"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/query/compare/match"
)

// keeper stores settings and marks. It writes in the background, some time after a
// change, so that the window never waits for the disk.
type keeper struct {
	store *settings.Store
	wake  func()
	// settings is this window's copy; only the window's goroutine uses it.
	settings settings.Settings
	window   settings.Window // as last written

	mu      sync.Mutex
	pending []func(*settings.Settings)
	marks   []markChange // pending changes, in order
	said    []string
	poke    chan struct{}
	stopped chan struct{}
	ended   chan struct{}
}

// unhurried is the delay between a change and its write, so that several changes are
// written together.
const unhurried = 300 * time.Millisecond

// newKeeper reads the settings of a store; it returns nil if the store is nil.
func newKeeper(st *settings.Store, wake func()) *keeper {
	if st == nil {
		return nil
	}
	k := &keeper{store: st, wake: wake, poke: make(chan struct{}, 1), stopped: make(chan struct{}), ended: make(chan struct{})}
	v, err := st.Settings()
	if err != nil {
		k.say(err.Error())
	}
	k.settings = v
	if v.Window != nil {
		k.window = *v.Window
	}
	go k.run()
	return k
}

// run writes changes until the keeper is closed, then once more. A write takes seconds if
// another program holds the lock.
func (k *keeper) run() {
	defer close(k.ended)
	for stopping := false; !stopping; {
		select {
		case <-k.poke:
		case <-k.stopped:
		}
		select {
		case <-time.After(unhurried):
		case <-k.stopped:
			stopping = true
		}
		k.flush()
	}
}

// markChange is a change to the marks of one recording.
type markChange struct {
	key, name string
	change    func([]view.Mark) []view.Mark
}

// mostKept is the maximum number of pending changes if the disk cannot be written.
const mostKept = 1000

// flush writes all changes, once per file, so that the window closes soon even if another
// program holds the locks. Changes that could not be written wait for the next flush.
func (k *keeper) flush() {
	k.mu.Lock()
	pending, marks := k.pending, k.marks
	k.pending, k.marks = nil, nil
	k.mu.Unlock()
	for len(marks) > 0 {
		of := marks[0]
		var mine, rest []markChange
		for _, m := range marks {
			if m.key == of.key {
				mine, of.name = append(mine, m), m.name
			} else {
				rest = append(rest, m)
			}
		}
		err := k.store.ChangeMarks(of.key, of.name, func(now []view.Mark) []view.Mark {
			for _, m := range mine {
				now = m.change(now)
			}
			return now
		})
		if err != nil {
			k.say(err.Error())
			k.mu.Lock()
			k.marks = append(mine, k.marks...)
			k.marks = k.marks[max(0, len(k.marks)-mostKept):]
			k.mu.Unlock()
		}
		marks = rest
	}
	if len(pending) == 0 {
		return
	}
	err := k.store.ChangeSettings(func(v *settings.Settings) {
		for _, c := range pending {
			c(v)
		}
	})
	if err != nil {
		k.say(err.Error())
		k.mu.Lock()
		k.pending = append(pending, k.pending...)
		k.pending = k.pending[max(0, len(k.pending)-mostKept):]
		k.mu.Unlock()
	}
}

// change applies a change to this window's settings at once, and to the settings on the
// disk soon.
func (k *keeper) change(f func(*settings.Settings)) {
	f(&k.settings)
	k.mu.Lock()
	k.pending = append(k.pending, f)
	k.mu.Unlock()
	k.wakeWriter()
}

// wakeWriter wakes the goroutine that writes.
func (k *keeper) wakeWriter() {
	select {
	case k.poke <- struct{}{}:
	default:
	}
}

// Marks reads the marks from the disk.
func (k *keeper) Marks(key string) ([]view.Mark, error) { return k.store.Marks(key) }

// ChangeMarks changes the marks on the disk soon.
func (k *keeper) ChangeMarks(key, name string, f func([]view.Mark) []view.Mark) {
	k.mu.Lock()
	k.marks = append(k.marks, markChange{key, name, f})
	k.mu.Unlock()
	k.wakeWriter()
}

func (k *keeper) say(text string) {
	k.mu.Lock()
	k.said = append(k.said, text)
	k.mu.Unlock()
	k.wake()
}

// news returns the new messages for the status line, each once.
func (k *keeper) news() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := append(k.store.Notes(), k.said...)
	k.said = nil
	return n
}

// close writes pending changes. Errors go to standard error because no window can show
// them any more.
func (k *keeper) close() {
	close(k.stopped)
	<-k.ended
	for _, text := range k.news() {
		fmt.Fprintln(os.Stderr, "ashlar:", safetext.Text(text))
	}
}

// Recents returns the recent files of the settings.
func (k *keeper) Recents() []shell.Recent {
	out := make([]shell.Recent, len(k.settings.Recents))
	for i, r := range k.settings.Recents {
		out[i] = shell.Recent(r)
	}
	return out
}

// Opened adds a file to the recent files of the settings.
func (k *keeper) Opened(path string) {
	at := time.Now()
	k.change(func(v *settings.Settings) { v.AddRecent(path, at) })
}

// SetNames stores in the settings how the names of a file are shown.
func (k *keeper) SetNames(path string, folded bool, mine string) {
	k.change(func(v *settings.Settings) { v.SetNames(path, folded, mine) })
}

// Folder returns the folder of the settings.
func (k *keeper) Folder() string { return k.settings.Folder }

// Pairs returns the pairs of the settings.
func (k *keeper) Pairs() []match.Pair { return slices.Clone(k.settings.Pairs) }

// SetPair adds or removes a pair in the settings.
func (k *keeper) SetPair(p match.Pair, on bool) {
	k.change(func(v *settings.Settings) { v.SetPair(p, on) })
}

// Queries returns the saved queries and those run last.
func (k *keeper) Queries() (saved []settings.Query, ran []string) {
	return k.settings.Queries, k.settings.Ran
}

// SaveQuery saves a query in the settings, or removes it if it is empty.
func (k *keeper) SaveQuery(q settings.Query) error {
	now := k.settings
	if err := now.SaveQuery(q); err != nil {
		return err
	}
	k.change(func(v *settings.Settings) { _ = v.SaveQuery(q) }) // checked above
	return nil
}

// RanQuery remembers in the settings that a query was run.
func (k *keeper) RanQuery(sql string) {
	k.change(func(v *settings.Settings) { v.RanQuery(sql) })
}

// Prefer stores changed preferences in the settings.
func (k *keeper) Prefer(was, now workspace.Prefs) {
	k.change(func(v *settings.Settings) {
		if now.Theme != was.Theme {
			v.Theme = now.Theme
		}
		if now.Scale != was.Scale {
			v.Scale = now.Scale
		}
		if now.Columns != was.Columns {
			v.Gutter, v.Details = now.Columns.Gutter, now.Columns.Details
		}
		v.NoFindings = now.NoFindings
		for i := range view.Fields {
			if key := view.Fields[i].Key; now.Look[key] != was.Look[key] {
				v.SetText(key, now.Look[key])
			}
		}
	})
}

// prefs returns the preferences of the settings, without the theme if another was
// requested.
func (k *keeper) prefs(askedTheme bool) workspace.Prefs {
	v := &k.settings
	p := workspace.Prefs{Theme: v.Theme, Scale: v.Scale, Columns: panel.Columns{Gutter: v.Gutter, Details: v.Details}, NoFindings: v.NoFindings, Look: view.Kept{}}
	for i := range view.Fields {
		if f := &view.Fields[i]; f.Remembered {
			p.Look[f.Key] = v.Text(f.Key)
		}
	}
	if askedTheme {
		p.Theme = ""
	}
	return p
}

// roots returns the source folders of the settings.
func (k *keeper) roots() (roots []sourcefile.Root) {
	for _, r := range k.settings.SourceRoots {
		if r.To != "" {
			roots = append(roots, sourcefile.Root(r))
		}
	}
	return roots
}

// permit adds a source folder to the settings.
func (k *keeper) permit(root sourcefile.Root) {
	k.change(func(v *settings.Settings) {
		if r := settings.SourceRoot(root); !slices.Contains(v.SourceRoots, r) {
			v.SourceRoots = append(slices.Clip(v.SourceRoots), r)
		}
	})
}

// Limits on the window's size in dp, because the settings may contain any number.
const (
	leastWidth, leastHeight = 480, 320
	mostSide                = 16384
)

// size returns the window's last size, as options.
func (k *keeper) size() []app.Option {
	w := k.window
	if w.Width < leastWidth || w.Height < leastHeight || w.Width > mostSide || w.Height > mostSide {
		return nil
	}
	o := []app.Option{app.Size(unit.Dp(w.Width), unit.Dp(w.Height))}
	if w.Maximized {
		o = append(o, app.Maximized.Option())
	}
	return o
}

// sized records the window's size once a frame has reported the scale.
func (k *keeper) sized(c app.Config, m unit.Metric) {
	now := k.window
	switch c.Mode {
	case app.Maximized:
		now.Maximized = true
	case app.Windowed:
		if m.PxPerDp == 0 || c.Size.X == 0 {
			return
		}
		now = settings.Window{Width: int(m.PxToDp(c.Size.X)), Height: int(m.PxToDp(c.Size.Y))}
	}
	if now == k.window {
		return
	}
	k.window = now
	k.change(func(v *settings.Settings) { v.Window = &now })
}
