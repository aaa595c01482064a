package command

import (
	"github.com/spf13/pflag"

	"ashlar/app/core/subcommand"
	"ashlar/ingest/model/recording"
)

// onRecordings sets up a command that takes one recording, or up to most recordings.
func onRecordings(fs *pflag.FlagSet, most int, run func(c *call, recs []*recording.Recording, asJSON bool) error) func(*call, []string) error {
	var asJSON bool
	subcommand.AnswerFlags(fs, &asJSON)
	cacheFlag(fs)
	demo := demoFlag(fs)
	return func(c *call, args []string) error {
		if most == 1 || len(args) < 2 {
			path, err := oneFile(args, *demo)
			if err != nil {
				return err
			}
			args = []string{path}
		} else if len(args) > most || *demo {
			return misuse("name one recording, or two to compare")
		}
		var recs []*recording.Recording
		for _, path := range args {
			rec, _, err := c.read(path, recording.Part{})
			if err != nil {
				return err
			}
			recs = append(recs, rec)
		}
		c.watch("the answer")
		if err := run(c, recs, asJSON); err != nil {
			return err
		}
		return stopped(recs[0])
	}
}
