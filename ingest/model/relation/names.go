package relation

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Names returns a name for each of several files, for the column Partition: the name of the
// file, in characters that need no escapes in paths, or its name in its data set. Files of one
// name get numbers.
func Names(files []string) []string {
	names, used := make([]string, len(files)), map[string]bool{}
	for i, f := range files {
		if in, ok := strings.CutPrefix(filepath.Base(filepath.Dir(f)), Partition+"="); ok {
			f = in
		}
		base := strings.Map(func(r rune) rune {
			switch {
			case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '.', r == '-', r == '_':
				return r
			}
			return '_'
		}, filepath.Base(filepath.ToSlash(f)))
		if f == "-" || strings.Trim(base, ".") == "" {
			base = "input"
		}
		name := base
		for n := 2; used[name]; n++ {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		names[i], used[name] = name, true
	}
	return names
}
