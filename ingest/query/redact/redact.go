// Package redact removes identifying text from recordings: URLs, hosts, folders,
// arguments, label values, notes and command lines. Each text becomes a short name that is
// the same wherever the text occurs, in every recording, so that numbers stay
// attributable.
package redact

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"ashlar/ingest/fetch/ssh"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/column"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/join"
)

// A Redactor redacts recordings and counts what it replaced or removed. It may redact
// several recordings at the same time.
type Redactor struct {
	mu    sync.Mutex             // guards seen
	seen  [kinds]map[string]bool // replaced texts
	spans atomic.Int64           // spans with arguments
	notes atomic.Int64           // notes about files
	lines atomic.Int64           // command lines
}

type kind int

const (
	urls kind = iota
	hosts
	folders
	values
	kinds = iota
)

// words are the prefixes of short names, and the words for counting them.
var words = [kinds]struct{ short, one string }{{"url", "URL"}, {"host", "host"}, {"dir", "folder"}, {"value", "label value"}}

// name returns the short name of a text, made from the text's hash: a guess of the text
// can be checked, but the text cannot be recovered.
func (r *Redactor) name(k kind, text string) string {
	r.mu.Lock()
	if r.seen[k] == nil {
		r.seen[k] = map[string]bool{}
	}
	r.seen[k][text] = true
	r.mu.Unlock()
	sum := sha256.Sum256([]byte("ashlar " + words[k].short + " " + text))
	return words[k].short + "-" + hex.EncodeToString(sum[:3])
}

// Said lists the kinds of redacted text, with counts.
func (r *Redactor) Said() string {
	var all []string
	add := func(n int64, one string) {
		if n > 0 {
			all = append(all, safetext.Plural(n, one))
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, w := range words {
		add(int64(len(r.seen[k])), w.one)
	}
	add(r.lines.Load(), "command line")
	add(r.notes.Load(), "note of the file")
	add(r.spans.Load(), "set of arguments")
	if all == nil {
		return "nothing"
	}
	return strings.Join(all, ", ")
}

const (
	// tops are top-level domains. A name of two parts counts as a host only if it ends in
	// one of few, so main.in does not; names like java.net are excluded by java.
	few  = `com|org|net|io|dev|gov|edu|internal|local|lan|corp|intranet|localdomain`
	tops = few + `|int|mil|arpa|home|cloud|app|ai|co|uk|de|fr|jp|cn|us|eu|ru|nl|ch|at|se|no|dk|fi|it|es|pl|br|ca|au|nz|kr|tw|in|tech|xyz|info|biz|me|tv|sh|so|to|invalid|test|example`
	// code lists the file extensions of code. The name of such a file is kept.
	code = `js|mjs|cjs|jsx|ts|tsx|wasm|py|rb|php|go|c|cc|cpp|cxx|h|hh|hpp|hxx|inl|rs|java|kt|scala|cs|swift|m|mm|s|asm|lua|pl|ex|erl|hs|ml|zig|d|so|dll|dylib|exe|jar|ko|vue|svelte`
)

var (
	anyURL   = expression{`:`, lazily(`(?i)\b(?:[a-z][a-z0-9+.-]{1,24}://|(?:data|blob|javascript|filesystem|mailto):)[^\s"'<>\x60]+`)}
	email    = expression{`@`, lazily(`(?i)\b[\w.+-]+@(?:[a-z0-9-]+\.)+(?:` + tops + `)\b`)}
	windows  = expression{`:\`, lazily(`(?i)(?:\b[a-z]:|\\)[\\/][^\s"'<>|:*?]+`)}
	absolute = expression{`/`, lazily(`(^|[\s"'()\[\]{}=,:;@|<>])(~?/[^\s"'()\[\]{},;:|<>]+)`)}
	relative = expression{`/\`, lazily(`(?i)(?:[\w.@+~-]+[/\\])+[\w.@+~-]+\.(?:` + code + `)\b`)}
	led      = expression{`/`, lazily(`(?i)\b(?:[a-z0-9-]+\.)+(?:` + tops + `)(?::\d+)?/(?:[^\s"'()\[\]{},;:*/]+/)*`)}
	long     = expression{`.`, lazily(`(^|[\s"'()\[\]{}=,;@|<>/])((?:[a-z0-9-]+\.){2,}(?:` + tops + `)(?::\d+)?)($|[\s"'()\[\]{},;|<>/])`)}
	short    = expression{`.:`, lazily(`(^|[\s"'()\[\]{}=,;@|<>/])([a-z0-9-]+\.(?:` + few + `)(?::\d+)?|localhost:\d+)($|[\s"'()\[\]{},;|<>/])`)}
	ipv4     = expression{`.`, lazily(`\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b`)}
	ipv6     = expression{`[`, lazily(`(?i)\[[0-9a-f]*:[0-9a-f:.]*:[0-9a-f:.]*\](?::\d+)?`)}
	ending   = lazily(`(?i)([^/\\?#=&]+\.(?:` + code + `))(?:[?#][^:]*)?((?::\d+){0,2})$`)
	java     = lazily(`^(?:java|javax|sun|jdk|kotlin|scala|android)\.`)
)

// expression is run only on texts that contain one of the bytes in needs. Most names
// contain none, and looking for bytes takes a hundredth of the time.
type expression struct {
	needs string
	lazy  func() *regexp.Regexp
}

func (e expression) replace(s string, by func(string) string) string {
	if !strings.ContainsAny(s, e.needs) {
		return s
	}
	return e.lazy().ReplaceAllStringFunc(s, by)
}

// lazily compiles an expression on first use: compiling takes some milliseconds, and few
// runs of the program need it.
func lazily(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// Text replaces the URLs, hosts and folders in a name or a sentence.
func (r *Redactor) Text(s string) string {
	s = anyURL.replace(s, func(u string) string {
		end := strings.TrimRight(u, ").,;]}")
		rest := u[len(end):]
		name := r.name(urls, end)
		if m := ending().FindStringSubmatch(end); m != nil {
			name += "/" + m[1] + m[2]
		}
		return name + rest
	})
	s = email.replace(s, func(a string) string { return r.name(hosts, a) })
	s = windows.replace(s, r.path)
	s = absolute.replace(s, func(m string) string {
		at := strings.IndexAny(m, "~/")
		return m[:at] + r.path(m[at:])
	})
	s = relative.replace(s, r.path)
	s = led.replace(s, func(m string) string { return r.name(hosts, m) + "/" })
	for _, host := range []expression{long, short} {
		s = host.replace(s, func(m string) string {
			p := host.lazy().FindStringSubmatch(m)
			if java().MatchString(p[2]) {
				return m
			}
			return p[1] + r.name(hosts, p[2]) + p[3]
		})
	}
	for _, host := range []expression{ipv4, ipv6} {
		s = host.replace(s, func(m string) string { return r.name(hosts, m) })
	}
	return s
}

// done matches a short name at the start of a text, which shows that the text was
// redacted before.
var done = lazily(`^(?:url|host|dir|value)-[0-9a-f]{6}\b`)

// path replaces the folder of a path. The last part stays if it identifies code.
func (r *Redactor) path(p string) string {
	if done().MatchString(p) {
		return p
	}
	at := strings.LastIndexAny(p, `/\`)
	if ending().MatchString(p[at+1:]) {
		return r.name(folders, p[:at]) + "/" + p[at+1:]
	}
	return r.name(folders, p)
}

// File replaces the folder in the path of a source file, a library or a program.
func (r *Redactor) File(s string) string {
	at := strings.LastIndexAny(s, `/\`)
	switch {
	case at < 0 || strings.Contains(s, "://") || strings.HasPrefix(s, "data:") || strings.HasPrefix(s, "blob:"):
		return r.Text(s)
	case done().MatchString(s):
		return s
	case at == 0:
		return s[1:]
	}
	return r.name(folders, s[:at]) + "/" + r.Text(s[at+1:])
}

// process redacts the name of a process or thread, which may be its command line.
func (r *Redactor) process(s string) string {
	if s == "" || s[0] != '/' && !windows.lazy().MatchString(s[:min(len(s), 4)]) {
		return r.Text(s)
	}
	program, arguments, more := strings.Cut(s, " ")
	if more && arguments != "" {
		r.lines.Add(1)
	}
	return r.File(program)
}

// plainKeys are labels that are kept, because their values reveal no more than the
// threads do.
var plainKeys = map[string]bool{"pid": true, "tid": true, "cpu": true}

// Recording returns a redacted copy of a recording with the same numbers. rec does not
// change.
func (r *Redactor) Recording(rec *recording.Recording) *recording.Recording {
	if rec.Source.Redacted {
		return rec
	}
	out := *rec
	out.Source = r.source(rec.Source)
	r.columns(rec, &out)
	out.Events = append([]recording.Event(nil), rec.Events...)
	for i := range out.Events {
		e := &out.Events[i]
		e.Name, e.Note = r.Text(e.Name), r.Text(e.Note)
	}
	out.Processes = append([]recording.Process(nil), rec.Processes...)
	for i := range out.Processes {
		p := &out.Processes[i]
		from := p.Recording
		p.Name, p.Recording, p.Labels = r.process(p.OwnName()), "", r.Text(p.Labels)
		if from != "" {
			p.In(r.name(values, from))
		}
	}
	r.timeline(rec, &out)
	out.Flows = append([]recording.Flow(nil), rec.Flows...)
	for i := range out.Flows {
		out.Flows[i].Name = r.Text(out.Flows[i].Name)
	}
	out.Warnings = append([]recording.Warning(nil), rec.Warnings...)
	for i := range out.Warnings {
		out.Warnings[i].Text = r.Text(out.Warnings[i].Text)
	}
	if rec.Args != nil {
		out.Args = func(uint64) string { return "" }
	}
	out.ArgState = nil
	return &out
}

// columns redacts functions, frames and contexts.
func (r *Redactor) columns(rec, out *recording.Recording) {
	out.Functions = column.Vec[recording.Function]{}
	for i := range rec.Functions.Len() {
		f := rec.Functions.At(i)
		f.Name, f.Symbol, f.Module, f.File = r.Text(f.Name), r.Text(f.Symbol), r.File(f.Module), r.File(f.File)
		out.Functions.Append(f)
	}
	out.Frames = column.Vec[recording.Frame]{}
	for i := range rec.Frames.Len() {
		f := rec.Frames.At(i)
		f.File = r.File(f.File)
		out.Frames.Append(f)
	}
	out.Contexts = column.Vec[recording.Context]{}
	for i := range rec.Contexts.Len() {
		out.Contexts.Append(r.context(rec.Contexts.At(i)))
	}
}

// timeline redacts tracks, counters and windows.
func (r *Redactor) timeline(rec, out *recording.Recording) {
	out.Tracks = make([]*recording.Track, len(rec.Tracks))
	for i, t := range rec.Tracks {
		out.Tracks[i] = r.track(rec, t)
	}
	out.Counters = make([]*recording.Counter, len(rec.Counters))
	for i, c := range rec.Counters {
		of := *c
		of.Name, of.Series = r.Text(c.Name), r.Text(c.Series)
		out.Counters[i] = &of
	}
	out.Windows = make([]*recording.WindowSet, len(rec.Windows))
	for i, w := range rec.Windows {
		of := *w
		of.Windows = append([]recording.Window(nil), w.Windows...)
		for k := range of.Windows {
			of.Windows[k].ID = r.Text(of.Windows[k].ID)
		}
		out.Windows[i] = &of
	}
}

func (r *Redactor) source(s recording.Source) recording.Source {
	if r.notes.Add(int64(len(s.Notes)) + s.MoreNotes); s.Command != "" {
		r.lines.Add(1)
	}
	s.Notes, s.MoreNotes, s.Command = nil, 0, ""
	s.Tool = r.Text(s.Tool)
	s.Mappings = slices.Clone(s.Mappings)
	for i := range s.Mappings {
		s.Mappings[i].File = r.File(s.Mappings[i].File)
	}
	s.Path, s.Name, s.Redacted = FileName(s.Path), FileName(s.Name), true
	return s
}

// FileName returns the last part of a recording's path. Commands and addresses contain
// only this, since their recipient knows the folder.
func FileName(path string) string {
	if join.IsName(path) {
		return join.Each(path, FileName)
	}
	if strings.Contains(path, "://") {
		return new(Redactor).Text(path)
	}
	ends := `/\`
	if ssh.IsURL(path) {
		ends = `/\:`
	}
	return path[strings.LastIndexAny(path, ends)+1:]
}

func (r *Redactor) context(c recording.Context) recording.Context {
	out := append(recording.Context(nil), c...)
	for i := range out {
		switch a := &out[i]; {
		case a.Key == "comm":
			a.Value = r.process(a.Value)
		case !plainKeys[a.Key]:
			a.Value = r.name(values, a.Value)
		}
	}
	return out
}

func (r *Redactor) track(rec *recording.Recording, t *recording.Track) *recording.Track {
	out := *t
	out.Name = r.process(t.Name)
	out.Instants = append([]recording.Instant(nil), t.Instants...)
	for i := range out.Instants {
		out.Instants[i].Name = r.Text(out.Instants[i].Name)
	}
	if rec.Args != nil {
		for i := range t.Lanes {
			l := &t.Lanes[i]
			for k := range l.Len() {
				if l.Args(k) != 0 {
					r.spans.Add(1)
				}
			}
		}
	}
	return &out
}
