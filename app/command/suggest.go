package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// synonyms maps other programs' flag names to the full names of our flags.
var synonyms = map[string]string{
	"limit": "rows", "top": "rows", "head": "rows", "count": "rows", "max": "rows", "num": "rows", "lines": "rows", "nodecount": "rows",
	"out": "output", "o": "output", "outfile": "output", "dest": "output",
	"format": "json", "tid": "thread", "threads": "thread", "func": "function", "symbol": "function", "filter": "focus", "grep": "search", "find": "search",
	"group": "by", "group-by": "by", "groupby": "by", "time": "range", "period": "range", "between": "range", "overwrite": "force", "yes": "force",
	"program": "exe", "binary": "exe", "baseline": "a", "order": "sort", "sort-by": "sort", "type": "event", "sample_index": "metric", "unit": "metric",
}

// suggestFlag extends an error about a flag: it adds the flag that was probably meant, or
// the type of the flag's value. Other errors are returned unchanged.
func suggestFlag(fs *pflag.FlagSet, err error) error {
	var value *pflag.InvalidValueError
	if errors.As(err, &value) {
		f := value.GetFlag()
		switch f.Value.Type() {
		case "int":
			if f.Name == "rows" && fs.Lookup("search") != nil {
				return fmt.Errorf("--rows takes a whole number, not %q; --search lists only rows that match a text", value.GetValue())
			}
			return fmt.Errorf("--%s takes a whole number, not %q", f.Name, value.GetValue())
		case "float32", "float64":
			return fmt.Errorf("--%s takes a number, not %q", f.Name, value.GetValue())
		case "bool":
			return fmt.Errorf("--%s takes no value, but got %q", f.Name, value.GetValue())
		case "duration":
			return fmt.Errorf("--%s takes a time such as 30s or 10m, not %q", f.Name, value.GetValue())
		}
		return fmt.Errorf("--%s: %w", f.Name, value.Unwrap())
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	name := strings.ToLower(unknown.GetSpecifiedName())
	best := fs.Lookup(synonyms[name])
	near := 3 // fewer letters than this may differ, and fewer than half of the name
	if best == nil {
		fs.VisitAll(func(f *pflag.Flag) {
			d := editDistance(name, f.Name)
			if strings.HasPrefix(f.Name, name) && len(name) > 2 {
				d = min(d, 1)
			}
			if d < near && 2*d < len(name) {
				best, near = f, d
			}
		})
	}
	if best == nil {
		return err
	}
	meant := "--" + best.Name
	if best.Shorthand != "" {
		meant = "-" + best.Shorthand + " or " + meant
	}
	return fmt.Errorf("%w; did you mean %s?", err, meant)
}

// editDistance returns the number of letters to add, drop, change or swap with their
// neighbour to turn a into b.
func editDistance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
