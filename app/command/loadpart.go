package command

import (
	"github.com/spf13/pflag"

	"ashlar/ingest/model/recording"
)

// partFlags select the part of a file to open, for files larger than memory.
type partFlags struct {
	rng     string
	threads []string
}

// rangeFlag adds --range to commands that do not define their own.
func (f *partFlags) rangeFlag(fs *pflag.FlagSet) {
	fs.StringVar(&f.rng, "range", "", "open only `START..END`, from the recording's start: 1.2s..1.5s, 300ms.., ..2min")
}

func (f *partFlags) threadFlag(fs *pflag.FlagSet) {
	fs.StringArrayVar(&f.threads, "thread", nil, "only this `THREAD`: an id, a name, or part of a name (repeatable)")
}

func (f *partFlags) part() (recording.Part, error) {
	rng, err := rangeFlag(f.rng)
	if err != nil {
		return recording.Part{}, err
	}
	for _, t := range f.threads {
		if t == "" {
			return recording.Part{}, misuse("--thread needs the name or id of a thread")
		}
	}
	return recording.Part{Range: rng, Threads: f.threads}, nil
}

// readRange reads a recording for an answer about a range: all of it or, if it does not
// fit in memory, only the range.
func (c *call) readRange(path string, rng recording.Range, threads ...string) (*recording.Recording, error) {
	rec, stats, err := c.read(path, recording.Part{Threads: threads})
	if err != nil || !stats.Full || !rng.IsSet() || path == "-" {
		return rec, err
	}
	c.note("%s: larger than memory; reading only %s", path, rng)
	rec = nil // free the memory
	rec, _, err = c.read(path, recording.Part{Range: rng, Threads: threads})
	return rec, err
}
