package join

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"ashlar/ingest/fetch"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/input/source"
)

// The name of a joined recording is the names of its parts with Plus between them, or one
// name followed by a plus sign: "a.json + b.json", "rank*.json +". A name may be a pattern.
const (
	Plus   = " + "
	single = " +"
)

// Most is the largest number of recordings that are joined.
const Most = 1024

// IsName reports whether a name is that of a joined recording. A file of exactly that name
// has precedence.
func IsName(name string) bool {
	if _, ok := split(name); !ok {
		return false
	}
	_, err := os.Lstat(name)
	return err != nil
}

// split splits the name of a joined recording; false for other names.
func split(name string) (parts []string, ok bool) {
	if !strings.Contains(name, single) {
		return nil, false
	}
	name, one := strings.CutSuffix(name, single)
	parts = strings.Split(name, Plus)
	for i := range parts {
		if parts[i] = strings.TrimSpace(parts[i]); parts[i] == "" {
			return nil, false
		}
	}
	return parts, one || len(parts) > 1
}

// Name returns the name of the recording that joins parts.
func Name(parts ...string) string {
	if len(parts) == 1 {
		return parts[0] + single
	}
	return strings.Join(parts, Plus)
}

// Compact returns the shortest name that joins files: a pattern if it matches just them.
func Compact(files []string) string {
	if len(files) > 2 {
		before, after := common(files, false), common(files, true)
		name := Name(before + "*" + after)
		sorted := slices.SortedFunc(slices.Values(files), Natural)
		if found, err := Files(name); err == nil && slices.Equal(found, sorted) {
			return name
		}
	}
	return Name(files...)
}

// Split returns the names in the name of a joined recording, which may be patterns; other
// names as they are.
func Split(name string) []string {
	if IsName(name) {
		parts, _ := split(name)
		return parts
	}
	return []string{name}
}

// Files lists the recordings that a name joins. The files of a pattern are in the order of
// the numbers in their names.
func Files(name string) (files []string, err error) {
	for _, p := range Split(name) {
		if fetch.IsURL(p) || !strings.ContainsAny(p, "*?[") {
			files = append(files, p)
			continue
		}
		if _, err := os.Lstat(p); err == nil {
			files = append(files, p)
			continue
		}
		found, err := filepath.Glob(p)
		if err != nil || len(found) == 0 {
			return nil, &source.Error{Path: p, What: "matches no file", Err: err}
		}
		slices.SortFunc(found, Natural)
		files = append(files, found...)
	}
	if len(files) > Most {
		return nil, &source.Error{Path: safetext.Middle(name, 200), What: fmt.Sprintf("names %d recordings; at most %d can be joined", len(files), Most)}
	}
	return files, nil
}

// Title returns a short name for a joined recording: "rank0.json + 63 more".
func Title(name string) string {
	files, err := Files(name)
	if err != nil {
		files = Split(name)
	}
	for i := range files {
		files[i] = base(files[i])
	}
	switch len(files) {
	case 1:
		return files[0]
	case 2:
		return Name(files...)
	}
	return fmt.Sprintf("%s + %d more", files[0], len(files)-1)
}

func base(name string) string {
	if fetch.IsURL(name) {
		return fetch.Name(name)
	}
	return filepath.Base(name)
}

// Each replaces each name in the name of a joined recording, and other names.
func Each(name string, by func(string) string) string {
	if !IsName(name) {
		return by(name)
	}
	parts := Split(name)
	for i := range parts {
		parts[i] = by(parts[i])
	}
	return Name(parts...)
}

// Natural compares names with the numbers in them by value: rank2 comes before rank10.
func Natural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		n, m := digits(x), digits(y)
		if n == 0 || m == 0 {
			if x[0] != y[0] {
				return int(x[0]) - int(y[0])
			}
			x, y = x[1:], y[1:]
			continue
		}
		p, q := strings.TrimLeft(x[:n], "0"), strings.TrimLeft(y[:m], "0")
		if len(p) != len(q) {
			return len(p) - len(q)
		}
		if c := strings.Compare(p, q); c != 0 {
			return c
		}
		x, y = x[n:], y[m:]
	}
	if len(x) != len(y) {
		return len(x) - len(y)
	}
	return strings.Compare(a, b)
}

// digits returns the number of digits that begin a text.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// separators end the words of a file's name.
const separators = "-_. /"

// mostName is the maximum length of a name of a part.
const mostName = 60

// Names returns short names that tell files apart: what their names do not have in common,
// in whole words.
func Names(files []string) []string {
	out := make([]string, len(files))
	seen := map[string]bool{}
	for i, f := range files {
		out[i] = base(f)
		seen[out[i]] = true
	}
	if len(seen) < len(files) {
		for i, f := range files {
			out[i] = filepath.ToSlash(f)
		}
	}
	before, after := len(prefix(out)), len(suffix(out))
	for _, s := range out {
		if len(s) <= before+after {
			before = 0
		}
	}
	for _, s := range out {
		if len(s) <= before+after {
			after = 0
		}
	}
	for i := range out {
		out[i] = shorten(out[i][before : len(out[i])-after])
	}
	return unique(out)
}

// common returns what all names begin with, or end with.
func common(names []string, end bool) string {
	at := func(s string, i int) byte {
		if end {
			i = len(s) - 1 - i
		}
		return s[i]
	}
	first, n := names[0], len(names[0])
	for _, s := range names {
		k := 0
		for k < min(n, len(s)) && at(s, k) == at(first, k) {
			k++
		}
		n = k
	}
	if end {
		return first[len(first)-n:]
	}
	return first[:n]
}

// prefix returns the words that all names begin with. The word before a number is part of
// the number's name: rank-0.
func prefix(names []string) string {
	p := common(names, false)
	p = p[:strings.LastIndexAny(p, separators)+1]
	for _, s := range names {
		if digits(s[len(p):]) > 0 && p != "" {
			return p[:strings.LastIndexAny(p[:len(p)-1], separators)+1]
		}
	}
	return p
}

// suffix returns the words that all names end with.
func suffix(names []string) string {
	p := common(names, true)
	if i := strings.IndexAny(p, separators); i >= 0 {
		return p[i:]
	}
	return ""
}

func shorten(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if utf8.RuneCountInString(s) > mostName {
		s = safetext.Middle(s, mostName)
	}
	return s
}

// unique numbers names that are not unique.
func unique(names []string) []string {
	seen := map[string]bool{}
	for i, s := range names {
		for n := 2; seen[names[i]]; n++ {
			names[i] = fmt.Sprintf("%s (%d)", s, n)
		}
		seen[names[i]] = true
	}
	return names
}
