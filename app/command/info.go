package command

import (
	"github.com/spf13/pflag"

	"ashlar/app/command/contents"
	"ashlar/app/core/evidence"
	"ashlar/app/core/subcommand"
)

func infoCommand() command {
	return own(subcommand.Command{
		Name: "info", Args: "FILE [--json]", Line: "list what is in a recording",
		Text: `
Totals are exact. Warnings name what was wrong with the file and the first
place of each; the ledger counts each kind of record: read, kept, repaired and
left out. When reading had to stop
early, the part that was read is printed and the exit code is 1.`,
		Examples: [][2]string{
			{"ashlar info run.spaa.zst", "list what is in a recording"},
			{"ashlar info run.spall --json | jq .counts", "the same for programs"},
			{"zcat run.json.gz | ashlar info -", "read standard input"},
		},
		Answer: contents.Contents{},
	}, func(fs *pflag.FlagSet) func(*call, []string) error {
		asJSON := fs.Bool("json", false, "print JSON")
		subcommand.BudgetFlag(fs)
		subcommand.RedactFlag(fs)
		var only partFlags
		only.rangeFlag(fs)
		only.threadFlag(fs)
		demo := demoFlag(fs)
		cacheFlag(fs)
		return func(c *call, args []string) error {
			path, err := oneFile(args, *demo)
			if err != nil {
				return err
			}
			part, err := only.part()
			if err != nil {
				return err
			}
			rec, stats, err := c.read(path, part)
			if err != nil {
				return err
			}
			c.watch("the answer")
			in, err := contents.Of(c.ctx, rec, stats)
			if err != nil {
				return err
			}
			in.Address = evidence.About(rec)
			return c.answer(rec, *asJSON, in, in.Text)
		}
	})
}
