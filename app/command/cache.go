package command

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"ashlar/app/core/cache"
	"ashlar/app/core/subcommand"
	"ashlar/app/core/tabular"
	"ashlar/ingest"
	"ashlar/ingest/input/safetext"
	"ashlar/render/units"
)

// cacheFlag adds the flag of all commands that may take a recording from the cache.
func cacheFlag(fs *pflag.FlagSet) {
	fs.Bool("no-cache", false, "read the file itself, and keep nothing of it to open it at once")
}

func cacheCommand() command {
	return own(subcommand.Command{
		Name: "cache", Args: "[--clean] [--json]", Line: "list or delete the cache of large recordings",
		Text: `
What was read of a file of 256 MB or more is kept in your cache folder, readable
by you alone, and opens at once the next time. A file that was changed is read
anew. 10 GB are kept at most, and nothing where less than a tenth of the disk
would be free; what was used longest ago goes first. ashlar help settings says
how to change that, and how to keep recordings out.`,
		Examples: [][2]string{
			{"ashlar cache", "list what is kept"},
			{"ashlar cache --clean", "remove all of it"},
			{"ashlar run.json --no-cache", "open a file without"},
		},
		Answer: cached{},
	}, func(fs *pflag.FlagSet) func(*call, []string) error {
		clean := fs.Bool("clean", false, "remove all that is kept")
		asJSON := fs.Bool("json", false, "print JSON")
		return func(c *call, args []string) error {
			switch {
			case len(args) > 0:
				return misuse("the cache is one for all files; leave out %s", args[0])
			case c.run.Cache == nil:
				return errors.New("there is no place where recordings are kept")
			}
			return c.listCache(c.run.Cache(), *clean, *asJSON)
		}
	})
}

// cached is the JSON output of cache.
type cached struct {
	// Folder is where recordings are kept.
	Folder string `json:"folder"`
	// Recordings lists those that are kept, the last used first.
	Recordings []cache.Entry `json:"recordings"`
	// Bytes counts those that they take on the disk.
	Bytes int64 `json:"bytes"`
	// Removed counts the bytes that --clean has removed.
	Removed int64 `json:"removed_bytes"`
}

func (c *call) listCache(kept *cache.Cache, clean, asJSON bool) error {
	if kept == nil {
		return errors.New("nothing is kept: the settings say so, or there is no folder for it")
	}
	out := cached{Folder: kept.Dir(), Recordings: []cache.Entry{}}
	if clean {
		var err error
		if out.Removed, err = kept.Clean(); err != nil {
			return err
		}
	}
	all, err := kept.List()
	if err != nil {
		return err
	}
	for _, e := range all {
		out.Recordings = append(out.Recordings, e)
		out.Bytes += e.Bytes
	}
	if asJSON {
		return writeJSON(c.stdout, out)
	}
	var b strings.Builder
	if clean {
		fmt.Fprintf(&b, "removed: %s\n", units.Bytes(out.Removed))
	}
	rows := [][]string{}
	for _, e := range all {
		rows = append(rows, []string{units.Bytes(e.Bytes), e.Used.Local().Format("2006-01-02 15:04"), safetext.Text(filepath.ToSlash(e.Path)), ingest.Title(e.Format), units.Bytes(e.Of)})
	}
	tabular.Columns(&b, "", "rlllr", rows)
	fmt.Fprintf(&b, "%s: %s of %s at most\n", safetext.Text(out.Folder), units.Bytes(out.Bytes), units.Bytes(kept.Most*1e6))
	return c.say(b.String())
}
