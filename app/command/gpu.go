package command

import (
	"cmp"

	"github.com/spf13/pflag"

	"ashlar/app/core/gpureport"
	"ashlar/app/core/subcommand"
	"ashlar/ingest/model/recording"
)

// textSteps is the default number of steps in text output.
const textSteps = 40

func gpuCommand() command {
	return own(subcommand.Command{
		Name: "gpu", Args: "FILE [flags]", Line: "show GPU time by operator, idle time by cause, and slow steps",
		Text: `
Needs a trace with GPU work, from PyTorch's profiler or JAX's.

A GPU is busy while any of its streams works. Idle time before a kernel, copy or
fill is divided exactly: until its launch, by what the launching thread did then
(in steps, by the outermost call below the step), and from launch to start.

Communication with other GPUs (NCCL, RCCL, collectives of JAX, copies between
GPUs) is hidden while kernels compute on another stream of the GPU, and exposed
otherwise.

Memory is that of PyTorch's allocator (recorded with profile_memory=True).
Reserved memory includes the allocator's cache.

The tables of GPU time list operators, modules (recorded with with_stack=True)
and annotations of PyTorch, or operations and scopes of JAX, by the work that
they launched. Total includes the work of operators within an operator, self
does not. Times are sums of durations: work that runs at the same time counts
each. The backward pass counts in the modules of the forward pass.

Steps are repeated outermost calls in which at least half of the work was
launched, such as ProfilerStep#12. The GPU time of a step is that of the work
launched in it, even if the work runs later. A step is slow if it takes at least
1.3 times the median and stands out from the others.`,
		Examples: [][2]string{
			{"ashlar gpu trace.json.gz", "why the GPU was idle, what launched its work, and slow steps"},
			{"ashlar gpu trace.json.gz --json", "everything, as JSON"},
		},
		Answer: gpureport.Answer{},
	}, func(fs *pflag.FlagSet) func(*call, []string) error {
		steps, json := textSteps, false
		subcommand.RowsFlag(fs, &steps, "steps", "--json")
		subcommand.AnswerFlags(fs, &json)
		demo := demoFlag(fs)
		cacheFlag(fs)
		return func(c *call, args []string) error {
			path, err := oneFile(args, *demo)
			if err != nil {
				return err
			}
			if err := c.takeRows(fs, &steps, "steps", json, false); err != nil {
				return err
			}
			rec, _, err := c.read(path, recording.Part{})
			if err != nil {
				return err
			}
			c.watch("the answer")
			a, err := gpureport.Of(c.ctx, rec, steps)
			if err != nil {
				return misfit(rec, err)
			}
			return cmp.Or(c.printRows(json, a, "steps", len(a.Steps), a.Text), stopped(rec))
		}
	})
}
