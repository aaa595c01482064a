package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// synonyms are names that other programs give a flag of ours, by its full name.
var synonyms = map[string]string{
	"limit": "rows", "top": "rows", "head": "rows", "count": "rows", "max": "rows", "num": "rows", "lines": "rows", "nodecount": "rows",
	"out": "output", "o": "output", "outfile": "output", "dest": "output",
	"format": "json", "tid": "thread", "threads": "thread", "func": "function", "symbol": "function", "filter": "focus", "grep": "search", "find": "search",
	"group": "by", "group-by": "by", "groupby": "by", "time": "range", "period": "range", "between": "range", "overwrite": "force", "yes": "force",
	"program": "exe", "binary": "exe", "baseline": "a", "order": "sort", "sort-by": "sort", "type": "event", "sample_index": "metric", "unit": "metric",
}

// flagHint says which flag a wrong one was meant for: one of another name, or one
// that a slip of the pen is near. The error stays where none is near.
func flagHint(fs *pflag.FlagSet, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	name := strings.ToLower(unknown.GetSpecifiedName())
	best := fs.Lookup(synonyms[name])
	near := 3 // letters that may differ, and fewer than half of them
	if best == nil {
		fs.VisitAll(func(f *pflag.Flag) {
			d := distance(name, f.Name)
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
