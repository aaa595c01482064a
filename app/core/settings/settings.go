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

// Settings are those of settings.json; each key may be left out. Keys that no field is
// for are kept: how recordings are looked at is under the keys of addresses, see
// [Settings.Text].
//
//	{
//	  "theme": "dark",                  dark, light, contrast or system (when left out)
//	  "colour": "module",               function (when left out), module, kind, thread or search
//	  "scale": 1.25,                    how much larger everything is drawn
//	  "window": {"width": 1280, "height": 800, "maximized": false},   in dp
//	  "sort": "total",                  the column that tables are sorted by; "-total" the other way round
//	  "columns": "self,total",          those that tables show beside the name
//	  "split": "0.4",                   the timeline's share of the height; by what is shown when left out
//	  "layout": "above",                where the timelines of two recordings are: above or beside (when left out) each other
//	  "folder": "/home/me/traces",      where a file was opened last
//	  "source_roots": [{"from": "/build", "to": "/home/me/src"}],   see SourceRoot
//	  "pairs": [{"a": "parse", "b": "parseFast@app"}],   functions that were renamed, paired by hand
//	  "cache": {"least_mb": 256, "most_mb": 10000, "private": ["/home/me/secret"]},   see CacheSettings
//	  "recents": [{"path": "/home/me/traces/a.spall", "opened": "2026-01-02T15:04:05Z"}]
//	}
type Settings struct {
	Theme       string         `json:"theme,omitempty"`
	Window      *Window        `json:"window,omitempty"`
	Scale       float32        `json:"scale,omitempty"`
	Folder      string         `json:"folder,omitempty"`
	SourceRoots []SourceRoot   `json:"source_roots,omitempty"`
	Pairs       []match.Pair   `json:"pairs,omitempty"`
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

// SourceRoot says that source files whose path begins with From lie under To;
// any may be there when From is left out.
type SourceRoot struct {
	From string `json:"from,omitempty"`
	To   string `json:"to"`
}

// CacheSettings say which recordings are kept as they were read (see package cache).
type CacheSettings struct {
	// Off keeps none.
	Off bool `json:"off,omitempty"`
	// Least is the size in MB from which files are cached, and Most the total size of the
	// cache in MB; 0 stands for the defaults of 256 and 10,000.
	Least int64 `json:"least_mb,omitempty"`
	Most  int64 `json:"most_mb,omitempty"`
	// Free is how many hundredths of the disk must be free; 0 stands for 10, and less
	// than 0 for none.
	Free int64 `json:"least_free_percent,omitempty"`
	// Private are folders, and files, of which nothing is kept.
	Private []string `json:"private,omitempty"`
}

// WithDefaults has numbers if none are set.
func (s CacheSettings) WithDefaults() CacheSettings {
	s.Least, s.Most, s.Free = cmp.Or(s.Least, 256), cmp.Or(s.Most, 10_000), cmp.Or(s.Free, 10)
	return s
}

// mostPairs bounds the list of pairs.
const mostPairs = 500

// SetPair adds a pair, or takes it away; which of both is the older does not
// matter.
func (s *Settings) SetPair(p match.Pair, on bool) {
	s.Pairs = slices.DeleteFunc(s.Pairs, func(q match.Pair) bool { return q == p || q == match.Pair{A: p.B, B: p.A} })
	if on {
		s.Pairs = append(s.Pairs, p)
	}
	if n := len(s.Pairs) - mostPairs; n > 0 {
		s.Pairs = slices.Delete(s.Pairs, 0, n)
	}
}

// Recent is a file that was opened.
type Recent struct {
	Path   string    `json:"path"`
	Opened time.Time `json:"opened"`
}

// known has the keys of Settings.
var known = []string{"theme", "window", "scale", "folder", "source_roots", "pairs", "cache", "recents"}

// Text reads a key that this package does not know as one text: a text, a number, or a
// list with commas between; "" if it is not there.
func (s *Settings) Text(key string) string {
	raw, ok := s.other[key]
	if !ok && key == "layout" {
		raw = s.other["compare"] // as it was called
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

// SetText sets such a key, "" takes it away.
func (s *Settings) SetText(key, text string) {
	other := maps.Clone(s.other) // which copies of the settings share
	if key == "layout" {
		delete(other, "compare")
	}
	if delete(other, key); text != "" {
		if other == nil {
			other = map[string]json.RawMessage{}
		}
		other[key], _ = json.Marshal(text) // a string always can be
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
		return fmt.Errorf("it has no settings")
	}
	for _, k := range known {
		delete(all, k)
	}
	*s = Settings(p)
	s.other = all
	return nil
}

// MarshalJSON writes settings with the keys that were not known.
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

// Settings reads the settings: those of a new user when there are none, or when
// they cannot be understood (which Notes then tells).
func (s *Store) Settings() (Settings, error) {
	var v Settings
	if s.load(s.settingsPath(), &v, false) == nil {
		return v, nil
	}
	// Look again while nobody writes, and set it aside.
	v = Settings{}
	err := s.ChangeSettings(func(now *Settings) { v = *now })
	return v, err
}

// Cache reads what is set about kept recordings. Settings that cannot be understood it
// leaves alone, for Settings to tell of.
func (s *Store) Cache() CacheSettings {
	var v Settings
	if s.load(s.settingsPath(), &v, false) != nil || v.Cache == nil {
		return CacheSettings{}
	}
	return *v.Cache
}

// ChangeSettings changes the settings as they are now on the disk.
func (s *Store) ChangeSettings(f func(*Settings)) error {
	var v Settings
	return s.change(s.settingsPath(), &v, func() { v = Settings{} }, func() { f(&v) })
}

// mostRecents is how many files are remembered.
const mostRecents = 30

// Opened remembers that a file was opened, and its folder.
func (s *Store) Opened(path string, at time.Time) error {
	return s.ChangeSettings(func(v *Settings) { v.AddRecent(path, at) })
}

// AddRecent puts a file first among the recents, and remembers its folder. The
// path is made absolute where that can be done; of a URL nothing is kept that
// lets in (see [safetext.URL]).
func (v *Settings) AddRecent(path string, at time.Time) {
	if fetch.IsURL(path) {
		path = safetext.URL(path)
	} else {
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		v.Folder = filepath.Dir(path)
	}
	v.Recents = slices.DeleteFunc(slices.Clone(v.Recents), func(r Recent) bool { return r.Path == path })
	v.Recents = slices.Insert(v.Recents, 0, Recent{path, at.UTC().Truncate(time.Second)})
	v.Recents = v.Recents[:min(len(v.Recents), mostRecents)]
}
