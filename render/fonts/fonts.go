// Package fonts finds system fonts for characters missing from the built-in font.
//
// A search for fonts takes a second or more on a machine with many of them. So it starts
// at the first missing character, in the background, and an index in the user's cache
// speeds up later runs. Until it ends, the character is drawn as missing.
package fonts

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/fontscan"
	"github.com/go-text/typesetting/language"
)

// Finder finds fonts by character. The zero value finds none; its methods may be
// called from any goroutine.
type Finder struct {
	// version grows when a search ends that may change texts.
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

// Start enables the finder. wake is called from another goroutine when a search
// has ended; if wake is nil, Font waits until the search ends.
func (f *Finder) Start(wake func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.on, f.wake = true, wake
}

// Version returns a number that increases when a search ends that may change how texts
// are drawn.
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

// Readable returns a text with the numbers of characters that no font has in their place,
// such as [U+1F680], so that it differs from other texts; has reports whether the built-in
// font has a character. While fonts are searched, it returns the text unchanged.
func (f *Finder) Readable(s string, has func(rune) bool) string {
	var b strings.Builder
	from, open := 0, false // s up to from is written; open: within brackets
	for i, r := range s {
		invisible := unicode.In(r, unicode.Cf, unicode.Cc, unicode.Variation_Selector)
		switch lacking := !invisible && r >= 0x300 && !has(r) && f.lacks(r); {
		case lacking:
			if !open {
				b.WriteString(s[from:i])
				b.WriteByte('[')
			} else {
				b.WriteByte(' ')
			}
			fmt.Fprintf(&b, "U+%04X", r)
			open, from = true, i+utf8.RuneLen(r)
		case open && invisible: // joins the characters of an emoji
			from = i + utf8.RuneLen(r)
		case open:
			b.WriteByte(']')
			open = false
		}
	}
	if open {
		b.WriteByte(']')
	}
	if b.Len() == 0 {
		return s
	}
	b.WriteString(s[from:])
	return b.String()
}

// lacks reports whether it is known that no font has a character.
func (f *Finder) lacks(r rune) bool {
	if f.Font(r) != nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	_, known := f.of[r]
	return known && !f.busy
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
			f.of[r] = f.look(r)
		}
	}
	f.busy = false
	wake := f.wake
	f.mu.Unlock()
	f.version.Add(1) // also if none was found: then Readable changes texts
	wake()
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
