package locate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ashlar/ingest/model/order"
	"ashlar/ingest/query/join"
)

// A Group is a set of recordings that belong together: the files of one folder, or files whose
// names differ only in digits.
type Group struct {
	Name  string
	Files []string
}

// Sides divides recordings into the two sides of a comparison if they lie in two folders or
// have two different names without digits, as do old-1, old-2 and new-1. The baseline comes
// first: the group with old, before, base, main or master in its name, else the older one. ok
// is false unless there are exactly two groups.
func Sides(files []string) (sides [2]Group, ok bool) {
	for _, key := range []func(string) string{
		func(f string) string { return filepath.Base(filepath.Dir(f)) },
		func(f string) string {
			return strings.Trim(strings.Map(func(r rune) rune {
				if r >= '0' && r <= '9' {
					return -1
				}
				return r
			}, stem(f)), "-_. ")
		},
	} {
		var groups []Group
		for _, f := range files {
			i := slices.IndexFunc(groups, func(g Group) bool { return g.Name == key(f) })
			if i < 0 {
				i = len(groups)
				groups = append(groups, Group{Name: key(f)})
			}
			groups[i].Files = append(groups[i].Files, f)
		}
		if len(groups) != 2 {
			continue
		}
		if rank(groups[1]) < rank(groups[0]) || rank(groups[1]) == rank(groups[0]) && changed(groups[1]) < changed(groups[0]) {
			groups[0], groups[1] = groups[1], groups[0]
		}
		for i := range groups {
			order.By(groups[i].Files, join.Natural)
		}
		return [2]Group(groups), true
	}
	return sides, false
}

// stem returns a file's name without its extensions.
func stem(f string) string {
	name := filepath.Base(f)
	if i := strings.IndexByte(name[1:], '.'); i >= 0 {
		name = name[:i+1]
	}
	return name
}

// rank orders groups by their names: baselines, other names, candidates.
func rank(g Group) int {
	name := strings.ToLower(g.Name)
	for r, words := range [][]string{{"old", "before", "base", "main", "master"}, {"new", "after", "candidate"}} {
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(name, w) }) {
			return 2*r - 1
		}
	}
	return 0
}

// changed returns the modification time of a group's first file, in nanoseconds.
func changed(g Group) int64 {
	info, err := os.Stat(g.Files[0])
	if err != nil {
		return 0
	}
	return info.ModTime().UnixNano()
}
