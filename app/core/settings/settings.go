package settings

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ashlar/ingest/fetch"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/query/compare/match"
)

// Settings is the content of settings.json; each key may be left out. Keys without a
// field here are kept: the settings of the view are stored under the keys of addresses,
// see [Settings.Text].
//
//	{
//	  "theme": "dark",                  dark, light, contrast or system (when left out)
//	  "colour": "module",               function (when left out), module, kind, thread or search
//	  "scale": 1.25,                    magnification of the whole window
//	  "gutter": 240,                    width of the column of thread names in dp; by the window's width when left out
//	  "details": 380,                   width of the details panel, likewise
//	  "no_findings": true,              hides the row of findings
//	  "window": {"width": 1280, "height": 800, "maximized": false},   in dp
//	  "sort": "total",                  sort column of tables; "-total" reverses the order
//	  "columns": "self,total",          columns of tables besides the name
//	  "split": "0.4",                   the timeline's share of the height; by the content when left out
//	  "layout": "above",                one of two timelines above the other; side by side when left out
//	  "folder": "/home/me/traces",      folder of the file opened last
//	  "source_roots": [{"from": "/build", "to": "/home/me/src"}],   see SourceRoot
//	  "pairs": [{"a": "parse", "b": "parseFast@app"}],   renamed functions, paired by hand
//	  "queries": [{"name": "slow requests", "sql": "SELECT …"}],   saved queries
//	  "ran": ["SELECT …"],              queries run last, newest first
//	  "cache": {"least_mb": 256, "most_mb": 10000, "private": ["/home/me/secret"]},   see CacheSettings
//	  "recents": [{"path": "/home/me/traces/a.spall", "opened": "2026-01-02T15:04:05Z", "mine": "main."}]
//	}
type Settings struct {
	Theme       string         `json:"theme,omitempty"`
	Window      *Window        `json:"window,omitempty"`
	Scale       float32        `json:"scale,omitempty"`
	Gutter      float32        `json:"gutter,omitempty"`
	Details     float32        `json:"details,omitempty"`
	NoFindings  bool           `json:"no_findings,omitempty"`
	Folder      string         `json:"folder,omitempty"`
	SourceRoots []SourceRoot   `json:"source_roots,omitempty"`
	Pairs       []match.Pair   `json:"pairs,omitempty"`
	Queries     []Query        `json:"queries,omitempty"`
	Ran         []string       `json:"ran,omitempty"`
	Cache       *CacheSettings `json:"cache,omitempty"`
	// Recents are the files opened last, newest first.
	Recents []Recent `json:"recents,omitempty"`

	other map[string]json.RawMessage
}

// Window is the window's size in dp when it is not maximized.
type Window struct {
	Width     int  `json:"width"`
	Height    int  `json:"height"`
	Maximized bool `json:"maximized,omitempty"`
}

// SourceRoot maps source files whose path begins with From to the folder To. Without
// From, any source file may be there.
type SourceRoot struct {
	From string `json:"from,omitempty"`
	To   string `json:"to"`
}

// CacheSettings determine which recordings are cached (see package cache).
type CacheSettings struct {
	// Off turns the cache off.
	Off bool `json:"off,omitempty"`
	// Least is the size in MB from which files are cached, and Most the total size of the
	// cache in MB; 0 stands for the defaults of 256 and 10,000.
	Least int64 `json:"least_mb,omitempty"`
	Most  int64 `json:"most_mb,omitempty"`
	// Free is the percentage of the disk that must stay free; 0 stands for the default of
	// 10, and a negative number for none.
	Free int64 `json:"least_free_percent,omitempty"`
	// Private lists folders and files that are never cached.
	Private []string `json:"private,omitempty"`
}

// WithDefaults returns the settings with defaults for numbers that are not set.
func (s CacheSettings) WithDefaults() CacheSettings {
	s.Least, s.Most, s.Free = cmp.Or(s.Least, 256), cmp.Or(s.Most, 10_000), cmp.Or(s.Free, 10)
	return s
}

// mostPairs is the maximum number of pairs.
const mostPairs = 500

// SetPair adds or removes a pair of functions. The order of the two does not matter.
func (s *Settings) SetPair(p match.Pair, on bool) {
	s.Pairs = slices.DeleteFunc(s.Pairs, func(q match.Pair) bool { return q == p || q == match.Pair{A: p.B, B: p.A} })
	if on {
		s.Pairs = append(s.Pairs, p)
	}
	if n := len(s.Pairs) - mostPairs; n > 0 {
		s.Pairs = slices.Delete(s.Pairs, 0, n)
	}
}

// Query is a saved SQL query.
type Query struct {
	Name string `json:"name"`
	SQL  string `json:"sql"`
}

// Limits of the stored queries: their number and the length of one.
const (
	mostQueries = 500
	mostRan     = 50
	queryBytes  = 64 << 10
)

// SaveQuery stores a query under a name; an empty query removes it. It returns an error if
// there is no room.
func (s *Settings) SaveQuery(q Query) error {
	kept := slices.DeleteFunc(slices.Clone(s.Queries), func(o Query) bool { return o.Name == q.Name })
	switch {
	case q.SQL == "":
	case len(q.SQL) > queryBytes:
		return fmt.Errorf("the query is longer than %d KB", queryBytes>>10)
	case len(kept) == mostQueries:
		return fmt.Errorf("%d queries are saved already; delete some", mostQueries)
	default:
		kept = append(kept, q)
	}
	s.Queries = kept
	return nil
}

// RanQuery makes a query the first of those run last.
func (s *Settings) RanQuery(sql string) {
	if sql == "" || len(sql) > queryBytes {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(s.Ran), func(o string) bool { return o == sql })
	kept = slices.Insert(kept, 0, sql)
	s.Ran = kept[:min(len(kept), mostRan)]
}

// Recent is a file that was opened.
type Recent struct {
	Path   string    `json:"path"`
	Opened time.Time `json:"opened"`
	// Folded shows names that differ only in numbers as one.
	Folded bool `json:"folded,omitempty"`
	// Mine is the pattern of the user's own code, "" if there is none.
	Mine string `json:"mine,omitempty"`
}

// known lists the keys with a field in Settings.
var known = []string{"theme", "window", "scale", "gutter", "details", "no_findings", "folder", "source_roots", "pairs", "queries", "ran", "cache", "recents"}

// Text returns the value of a key without a field in Settings as text: a string, a
// number, or a list joined by commas; "" if absent.
func (s *Settings) Text(key string) string {
	raw, ok := s.other[key]
	if !ok && key == "layout" {
		raw = s.other["compare"] // its former name
	}
	var text string
	var list []string
	var number json.Number
	switch {
	case json.Unmarshal(raw, &text) == nil:
		return text
	case json.Unmarshal(raw, &list) == nil:
		return strings.Join(list, ",")
	case json.Unmarshal(raw, &number) == nil:
		return number.String()
	}
	return ""
}

// SetText sets a key without a field in Settings; "" removes it.
func (s *Settings) SetText(key, text string) {
	other := maps.Clone(s.other) // copies of the settings share the map
	if key == "layout" {
		delete(other, "compare")
	}
	if delete(other, key); text != "" {
		if other == nil {
			other = map[string]json.RawMessage{}
		}
		other[key], _ = json.Marshal(text) // strings can always be encoded
	}
	s.other = other
}

// UnmarshalJSON reads settings and keeps the keys it does not know.
func (s *Settings) UnmarshalJSON(b []byte) error {
	type plain Settings
	var p plain
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	if all == nil {
		return fmt.Errorf("not a JSON object of settings")
	}
	for _, k := range known {
		delete(all, k)
	}
	*s = Settings(p)
	s.other = all
	return nil
}

// MarshalJSON writes settings, including the unknown keys.
func (s Settings) MarshalJSON() ([]byte, error) {
	type plain Settings
	b, err := json.Marshal(plain(s))
	if err != nil || len(s.other) == 0 {
		return b, err
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, err
	}
	for k, v := range s.other {
		all[k] = v
	}
	return json.Marshal(all)
}

func (s *Store) settingsPath() string { return filepath.Join(s.config, "settings.json") }

// Settings returns the stored settings, or the defaults if there are none or their file
// is invalid. If it is invalid, Notes has a message.
func (s *Store) Settings() (Settings, error) {
	var v Settings
	if s.load(s.settingsPath(), &v, false) == nil {
		return v, nil
	}
	// Try again under the lock, and rename an invalid file.
	v = Settings{}
	err := s.ChangeSettings(func(now *Settings) { v = *now })
	return v, err
}

// Cache returns the settings of the cache. It does not rename an invalid file; that is
// left to Settings.
func (s *Store) Cache() CacheSettings {
	var v Settings
	if s.load(s.settingsPath(), &v, false) != nil || v.Cache == nil {
		return CacheSettings{}
	}
	return *v.Cache
}

// ChangeSettings lets f change the settings as currently stored.
func (s *Store) ChangeSettings(f func(*Settings)) error {
	var v Settings
	return s.change(s.settingsPath(), &v, func() { v = Settings{} }, func() { f(&v) })
}

// mostRecents is the maximum number of recent files.
const mostRecents = 30

// Opened remembers that a file was opened, and its folder.
func (s *Store) Opened(path string, at time.Time) error {
	return s.ChangeSettings(func(v *Settings) { v.AddRecent(path, at) })
}

// AddRecent makes a file the first of the recents and stores its folder. The path is made
// absolute if possible; a URL is stored without credentials (see [safetext.URL]).
func (v *Settings) AddRecent(path string, at time.Time) {
	if fetch.IsURL(path) {
		path = safetext.URL(path)
	} else {
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		v.Folder = filepath.Dir(path)
	}
	r := Recent{Path: path}
	if i := v.recent(path); i >= 0 {
		r = v.Recents[i]
		v.Recents = slices.Delete(slices.Clone(v.Recents), i, i+1)
	}
	r.Opened = at.UTC().Truncate(time.Second)
	v.Recents = slices.Insert(slices.Clip(v.Recents), 0, r)
	v.Recents = v.Recents[:min(len(v.Recents), mostRecents)]
}

// recent returns the index of a file in the recents, -1 if it is not there.
func (v *Settings) recent(path string) int {
	return slices.IndexFunc(v.Recents, func(r Recent) bool { return r.Path == path })
}

// SetNames stores for a recent file whether names that differ only in numbers are shown
// as one, and the pattern of the user's own code.
func (v *Settings) SetNames(path string, folded bool, mine string) {
	if abs, err := filepath.Abs(path); err == nil && !fetch.IsURL(path) {
		path = abs
	}
	if i := v.recent(path); i >= 0 {
		v.Recents = slices.Clone(v.Recents)
		v.Recents[i].Folded, v.Recents[i].Mine = folded, mine
	}
}
