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

// cacheFlag adds the flag of all commands that may read from the cache.
func cacheFlag(fs *pflag.FlagSet) {
	fs.Bool("no-cache", false, "read the file itself, without the cache")
}

func cacheCommand() command {
	return own(subcommand.Command{
		Name: "cache", Args: "[--clean] [--json]", Line: "list or delete the cache of large recordings",
		Text: `
The decoded form of a file of 256 MB or more is cached in your cache folder,
readable only by you, and opens quickly the next time. A file that has changed
is read again. The cache takes at most 10 GB and leaves at least a tenth of the
disk free; the least recently used recordings go first. See ashlar help settings
to change these limits and to exclude recordings.`,
		Examples: [][2]string{
			{"ashlar cache", "list the cached recordings"},
			{"ashlar cache --clean", "delete the cache"},
			{"ashlar run.json --no-cache", "open a file without the cache"},
		},
		Answer: cached{},
	}, func(fs *pflag.FlagSet) func(*call, []string) error {
		clean := fs.Bool("clean", false, "delete all cached recordings")
		asJSON := fs.Bool("json", false, "print JSON")
		return func(c *call, args []string) error {
			switch {
			case len(args) > 0:
				return misuse("the cache command takes no files; leave out %s", args[0])
			case c.run.Cache == nil:
				return errors.New("this program does not use the cache; see ashlar cache")
			}
			return c.listCache(c.run.Cache(), *clean, *asJSON)
		}
	})
}

// cached is the JSON output of cache.
type cached struct {
	// Folder is the cache's folder.
	Folder string `json:"folder"`
	// Recordings lists the cached recordings, most recently used first.
	Recordings []cache.Entry `json:"recordings"`
	// Bytes is the total size of the recordings on disk.
	Bytes int64 `json:"bytes"`
	// Removed is the number of bytes that --clean removed.
	Removed int64 `json:"removed_bytes"`
}

func (c *call) listCache(kept *cache.Cache, clean, asJSON bool) error {
	if kept == nil {
		return errors.New("the cache is off: disabled in the settings, or there is no cache folder")
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
	fmt.Fprintf(&b, "%s: %s of at most %s\n", safetext.Text(out.Folder), units.Bytes(out.Bytes), units.Bytes(kept.Most*1e6))
	return c.say(b.String())
}
