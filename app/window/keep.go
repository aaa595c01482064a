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
	"ashlar/app/window/shell"
	"ashlar/app/window/workspace"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/query/compare/match"
)

// keeper remembers things in a store. What is written is written in the
// background, a while after it changed, so that the window never waits for the
// disk.
type keeper struct {
	store *settings.Store
	wake  func()
	// settings are as this window knows them; only its goroutine uses them.
	settings settings.Settings
	window   settings.Window // as it was last written

	mu      sync.Mutex
	pending []func(*settings.Settings)
	marks   []markChange // in order
	said    []string
	poke    chan struct{}
	stopped chan struct{}
	ended   chan struct{}
}

// unhurried is how long changes are gathered before they are written.
const unhurried = 300 * time.Millisecond

// newKeeper reads the settings of a store; nil for nil.
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

// run writes what has changed until the keeper is closed, and then once more: beside
// locks that others hold each time takes seconds.
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

// markChange is one of the marks of a recording.
type markChange struct {
	key, name string
	change    func([]view.Mark) []view.Mark
}

// mostKept bounds the changes that wait for a disk that takes none.
const mostKept = 1000

// flush writes what has changed: each file once, however many changes there are, so
// that where another program holds the locks the window is not kept for longer than
// they are few. What could not be written waits for the next change.
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

// change changes the settings here at once, and on the disk soon.
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

// Marks reads them from the disk.
func (k *keeper) Marks(key string) ([]view.Mark, error) { return k.store.Marks(key) }

// ChangeMarks changes them on the disk soon.
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

// news are sentences for the status line; each comes once.
func (k *keeper) news() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := append(k.store.Notes(), k.said...)
	k.said = nil
	return n
}

// close writes what has not been written. What goes wrong now no window can
// say.
func (k *keeper) close() {
	close(k.stopped)
	<-k.ended
	for _, text := range k.news() {
		fmt.Fprintln(os.Stderr, "ashlar:", safetext.Text(text))
	}
}

// Recents are those of the settings.
func (k *keeper) Recents() []shell.Recent {
	out := make([]shell.Recent, len(k.settings.Recents))
	for i, r := range k.settings.Recents {
		out[i] = shell.Recent(r)
	}
	return out
}

// Opened adds a file to the settings.
func (k *keeper) Opened(path string) {
	at := time.Now()
	k.change(func(v *settings.Settings) { v.AddRecent(path, at) })
}

// Folder is that of the settings.
func (k *keeper) Folder() string { return k.settings.Folder }

// Pairs are those of the settings.
func (k *keeper) Pairs() []match.Pair { return slices.Clone(k.settings.Pairs) }

// SetPair changes the settings.
func (k *keeper) SetPair(p match.Pair, on bool) {
	k.change(func(v *settings.Settings) { v.SetPair(p, on) })
}

// Prefer changes the settings.
func (k *keeper) Prefer(was, now workspace.Prefs) {
	k.change(func(v *settings.Settings) {
		if now.Theme != was.Theme {
			v.Theme = now.Theme
		}
		if now.Scale != was.Scale {
			v.Scale = now.Scale
		}
		for i := range view.Fields {
			if key := view.Fields[i].Key; now.Look[key] != was.Look[key] {
				v.SetText(key, now.Look[key])
			}
		}
	})
}

// prefs reads the settings; a theme that was asked for is stronger.
func (k *keeper) prefs(askedTheme bool) workspace.Prefs {
	v := &k.settings
	p := workspace.Prefs{Theme: v.Theme, Scale: v.Scale, Look: view.Kept{}}
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

// roots are where the settings say that sources are.
func (k *keeper) roots() (roots []sourcefile.Root) {
	for _, r := range k.settings.SourceRoots {
		if r.To != "" {
			roots = append(roots, sourcefile.Root(r))
		}
	}
	return roots
}

// Bounds of a window's size in dp: settings may say anything.
const (
	leastWidth, leastHeight = 480, 320
	mostSide                = 16384
)

// size is the size that the window had, as options.
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

// sized remembers the window's size once a frame has told the scale.
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
