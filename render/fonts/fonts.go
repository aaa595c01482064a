// Package fonts finds system fonts for characters missing from the built-in font.
//
// A search for fonts takes a second or more on a machine with many of them. So it starts
// at the first missing character, in the background, and an index in the user's cache
// speeds up later runs. Until a font is found, the character is drawn as missing.
package fonts

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/fontscan"
	"github.com/go-text/typesetting/language"
)

// Finder finds fonts by character. The zero value finds none; its methods may be
// called from any goroutine.
type Finder struct {
	// version grows when fonts are found.
	version atomic.Int64

	mu     sync.Mutex
	on     bool
	wake   func() // nil to find fonts synchronously
	of     map[rune]*font.Font
	asked  []rune // not looked up yet
	busy   bool
	loaded []*font.Font
	fm     *fontscan.FontMap
	failed bool
}

// System is the finder that pictures and windows use.
var System = new(Finder)

// Limits of the cache: a font may be tens of megabytes in size.
const (
	mostFonts = 12
	mostRunes = 1 << 15
)

// Start enables the finder. wake is called from another goroutine when fonts have been
// found; if wake is nil, Font waits until the search ends.
func (f *Finder) Start(wake func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.on, f.wake = true, wake
}

// Version returns a number that increases when fonts are found.
func (f *Finder) Version() int64 { return f.version.Load() }

// Font returns a font with a character; nil if there is none, or if it is not known yet.
func (f *Finder) Font(r rune) *font.Font {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.on {
		return nil
	}
	found, known := f.of[r]
	if known || len(f.of) >= mostRunes {
		return found
	}
	if f.of == nil {
		f.of = map[rune]*font.Font{}
	}
	if f.wake == nil {
		n := len(f.loaded)
		f.of[r] = f.look(r)
		if len(f.loaded) > n {
			f.version.Add(1)
		}
		return f.of[r]
	}
	f.of[r] = nil
	f.asked = append(f.asked, r)
	if !f.busy {
		f.busy = true
		go f.answer()
	}
	return nil
}

// Want requests fonts for those characters of a text for which has returns false.
func (f *Finder) Want(s string, has func(rune) bool) {
	for _, r := range s {
		if r >= 0x80 && !has(r) {
			f.Font(r)
		}
	}
}

// Fonts returns the fonts found so far.
func (f *Finder) Fonts() []*font.Font {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.loaded)
}

// answer serves requests until there are no more.
func (f *Finder) answer() {
	f.mu.Lock()
	found := false
	for len(f.asked) > 0 {
		asked := f.asked
		f.asked = nil
		fm, failed := f.fm, f.failed
		f.mu.Unlock()
		if fm == nil && !failed {
			fm = open()
		}
		f.mu.Lock()
		f.fm, f.failed = fm, fm == nil
		for _, r := range asked {
			if ft := f.look(r); ft != nil {
				f.of[r], found = ft, true
			}
		}
	}
	f.busy = false
	wake := f.wake
	f.mu.Unlock()
	if found {
		f.version.Add(1)
		wake()
	}
}

// look returns a loaded font with the character, or loads one.
func (f *Finder) look(r rune) (ft *font.Font) {
	for _, ft := range f.loaded {
		if _, ok := ft.NominalGlyph(r); ok {
			return ft
		}
	}
	defer func() { // the reader may panic on a broken font file
		if recover() != nil {
			f.fm, f.failed, ft = nil, true, nil
		}
	}()
	if f.fm == nil && !f.failed {
		f.fm = open()
		f.failed = f.fm == nil
	}
	if f.fm == nil || len(f.loaded) >= mostFonts {
		return nil
	}
	f.fm.SetScript(language.LookupScript(r))
	face := f.fm.ResolveFace(r)
	if face == nil {
		return nil
	}
	if _, ok := face.NominalGlyph(r); !ok {
		return nil // ResolveFace returns some font rather than none
	}
	f.loaded = append(f.loaded, face.Font)
	return face.Font
}

// open opens the index of the system's fonts, creating it if necessary; nil if there are
// no fonts.
func open() (found *fontscan.FontMap) {
	defer func() {
		if recover() != nil {
			found = nil
		}
	}()
	fm := fontscan.NewFontMap(quiet{})
	dir, err := os.UserCacheDir()
	if err == nil {
		dir = filepath.Join(dir, "ashlar")
		err = writable(dir)
	}
	if err != nil { // a temporary index is better than no fonts
		if dir, err = os.MkdirTemp("", "ashlar-fonts-"); err != nil {
			return nil
		}
		defer os.RemoveAll(dir)
	}
	if fm.UseSystemFonts(dir) != nil {
		return nil
	}
	fm.SetQuery(fontscan.Query{Families: []string{fontscan.SansSerif}})
	return fm
}

func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".try-")
	if err != nil {
		return err
	}
	f.Close()
	return os.Remove(f.Name())
}

// quiet is a logger that discards messages: warnings about broken fonts help nobody here.
type quiet struct{}

func (quiet) Printf(string, ...any) {}
