package panel

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
	"weak"

	"ashlar/ingest"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/units"
)

func ShortModule(m string) string {
	if m == "" {
		return ""
	}
	return analyze.ModuleBase(m)
}

// KeyTitle returns the key of a context or a note as a title. Keys that are composed of
// several words stay as they are.
func KeyTitle(key string) string {
	switch key {
	case "pid", "tid", "cpu", "uid":
		return strings.ToUpper(key)
	}
	if strings.ContainsAny(key, "._:/-") {
		return key
	}
	return Title1(key)
}

// FunctionsOf returns the functions of the recording that match a description.
func FunctionsOf(rec *recording.Recording, f recording.Function) []recording.FuncID {
	return analyze.RefTo(f).Functions(rec)
}

func Index(b bool) int {
	if b {
		return 1
	}
	return 0
}

// BasisText describes the scope of the lower half and the kind of its records.
func BasisText(rec *recording.Recording, a *analyze.Weights) string {
	switch {
	case a == nil:
		return ""
	case a.Left.AsyncSpans > 0:
		b := *a
		b.Left.AsyncSpans = 0
		return BasisText(rec, &b) + " · async spans hidden"
	case a.Left.IdleRecords > 0:
		b := *a
		b.Left.IdleRecords = 0
		return BasisText(rec, &b) + " · " + a.Left.IdleName() + " hidden"
	case a.Pairs > 0:
		b := *a
		b.Pairs = 0
		return BasisText(rec, &b) + " · " + units.Plural(a.Pairs, "stack pair") + " joined"
	case a.Called:
		if a.Ranged {
			return "Selected calls in " + units.Duration(a.To-a.From) + " · " + string(a.Basis)
		}
		return "Selected calls · " + string(a.Basis)
	case a.Ranged && a.Basis == analyze.Windows:
		return units.Duration(a.To-a.From) + " · " + units.Plural(int64(a.WindowCount), "window")
	case a.Ranged:
		return "Selected " + units.Duration(a.To-a.From) + " · " + string(a.Basis)
	}
	return "Whole recording · " + string(a.Basis)
}

func Join(a, b string) string {
	if b == "" {
		return a
	}
	return a + " " + b
}
func Title1(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// ShortFolder abbreviates the user's home folder as ~.
func ShortFolder(dir string) string {
	home, err := os.UserHomeDir()
	if err != nil || home == "" || home == string(filepath.Separator) {
		return dir
	}
	if rest, ok := strings.CutPrefix(dir, home); ok && (rest == "" || rest[0] == filepath.Separator) {
		return "~" + rest
	}
	return dir
}

func CutName(s string) string {
	if len(s) <= mostShown {
		return s
	}
	n := mostShown
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// mostShown is the maximum number of characters of a name that are laid out if the name
// may wrap; more would not be visible.
const mostShown = 400

// kindsPart keeps the numbers of tracks of the recordings that were shown last, because each
// frame shows them and there may be a million tracks.
type kindsPart struct {
	mu   sync.Mutex
	last [2]struct {
		rec   weak.Pointer[recording.Recording]
		kinds []recording.KindCount
	}
	next int
}

var trackKinds kindsPart

func (p *kindsPart) of(rec *recording.Recording) []recording.KindCount {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := weak.Make(rec)
	for i := range p.last {
		if p.last[i].rec == key {
			return p.last[i].kinds
		}
	}
	l := &p.last[p.next]
	p.next = 1 - p.next
	l.rec, l.kinds = key, rec.TrackKinds()
	return l.kinds
}

// Summary returns the first half of the status line: the file's format and contents.
func Summary(rec *recording.Recording) string {
	var parts []string
	title := ingest.Title(rec.Source.Format)
	if rec.Source.Version != "" {
		title += " " + rec.Source.Version
	}
	if title != "" {
		parts = append(parts, title)
	}
	if rec.Source.Tool != "" {
		parts = append(parts, rec.Source.Tool)
	}
	c := &rec.Counts
	for _, n := range []struct {
		n    int64
		what string
	}{{c.Spans, "span"}, {c.Samples, "sample"}, {c.Stacks, "stack"}, {c.Windows, "window"}} {
		if n.n > 0 {
			parts = append(parts, units.Plural(n.n, n.what))
		}
	}
	return strings.Join(slices.Concat(parts, tracks(rec), duration(rec)), " · ")
}

// Extent returns how much time and how many threads a recording covers; its format if it
// says nothing of either.
func Extent(rec *recording.Recording) string {
	return cmp.Or(strings.Join(slices.Concat(duration(rec), tracks(rec)), " · "), ingest.Title(rec.Source.Format))
}

func tracks(rec *recording.Recording) (parts []string) {
	if len(rec.Tracks) > 1 {
		for _, k := range trackKinds.of(rec) {
			parts = append(parts, units.Plural(k.Count, k.Kind))
		}
	}
	return parts
}

func duration(rec *recording.Recording) []string {
	if !rec.HasTime || rec.Duration() <= 0 {
		return nil
	}
	return []string{units.Duration(rec.Duration())}
}

// WholeParts leaves out parts of a text like "a · b · c" until it fits: a part that is cut may
// be half a number. It keeps the first part and the given number of parts at the end.
func WholeParts(text string, atEnd int, fits func(string) bool) string {
	parts := strings.Split(text, " · ")
	end := max(1, len(parts)-atEnd)
	for n := end - 1; n > 0 && !fits(text); n-- {
		text = strings.Join(append([]string{strings.Join(parts[:n], " · ") + " …"}, parts[end:]...), " · ")
	}
	return text
}
