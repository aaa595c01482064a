package command

import (
	"cmp"
	"errors"

	"github.com/spf13/pflag"

	"ashlar/app/core/missing"
	"ashlar/app/core/subcommand"
	"ashlar/app/core/waitreport"
	"ashlar/ingest/model/recording"
)

// textLocks is the default number of locks in text output.
const textLocks = 10

func locksCommand() command {
	return own(subcommand.Command{
		Name: "locks", Args: "FILE [flags]", Line: "list locks and channels with holders, waiters and wait times",
		Text: `
Needs a recording with states of threads: Go execution traces, perf sched,
ftrace, JFR, Perfetto. Threads that wait at the same place in the program
count as waiting for the same lock, and so do places whose waits were ended by
the same source line. A place is the innermost function outside the runtime and
its libraries.

Such recordings say who woke whom, not who held a lock, so holds are derived: a
hold lasts from its first waiter, or from the release before it, to the wake-up.
Holds without waiters are unknown. The holds of a lock add up to the time in
which any thread waited for it. A convoy is a period during which at least two
threads are always waiting.`,
		Examples: [][2]string{
			{"ashlar locks go.trace", "the locks and channels that cost the most time"},
			{"ashlar locks go.trace --range 1.2s..1.5s --json", "300 ms, as JSON"},
			{"ashlar calls go.trace '[blocked: sync][slowest 20]'", "single waits, with their wakers"},
		},
		Answer: waitreport.Answer{},
	}, func(fs *pflag.FlagSet) func(*call, []string) error {
		var o pathOptions
		o.add(fs, "only the waits of this `THREAD`: an id, a name, or part of a name (repeatable)", "locks", textLocks, "--json")
		fs.Var(&o.idle, "idle", "`HOW` to count waits of idle goroutines of the Go runtime: in, out or only (default: out)")
		return func(c *call, args []string) error {
			if err := o.parse(c, fs, args, "rows"); err != nil {
				return err
			}
			return c.locks(&o)
		}
	})
}

// locks reads the whole file: threads of a range may have been woken by any other.
func (c *call) locks(o *pathOptions) error {
	rec, _, err := c.read(o.path, recording.Part{})
	if err != nil {
		return err
	}
	c.watch("the answer")
	if rec.Counts.States == 0 {
		return misfit(rec, errors.New("locks need states of threads: "+missing.Reason(missing.OffCPU, rec)))
	}
	in, err := o.scope(c, rec)
	if err != nil {
		return err
	}
	a, err := waitreport.Of(c.ctx, rec, in, o.steps)
	if err != nil {
		return misfit(rec, err)
	}
	return cmp.Or(c.printRows(o.json, a, "locks", len(a.Locks), a.Text), stopped(rec))
}
