package findings

// Kind tells what is unusual from what merely costs most.
type Kind string

const (
	Unusual Kind = "unusual"
	Cost    Kind = "cost"
)

// rank orders kinds in lists.
func rank(k Kind) int {
	if k == Cost {
		return 1
	}
	return 0
}

// Harmless introduces the cases in which a finding of a kind is no problem.
func (k Kind) Harmless() string {
	if k == Cost {
		return "harmless"
	}
	return "false alarm"
}

// Split returns the findings that are unusual, and the others. Unusual ones come first.
func Split(all []Finding) (unusual, costs []Finding) {
	for i := range all {
		if all[i].Kind == Cost {
			return all[:i:i], all[i:]
		}
	}
	return all, nil
}

// CostTitle is the heading of costs that are measured in a unit.
func CostTitle(unit string) string {
	switch unit {
	case "ns", "nanoseconds", "us", "microseconds", "ms", "milliseconds", "s", "seconds":
		return "Where the time goes"
	case "bytes":
		return "Where the memory goes"
	}
	return "Where the cost is"
}

// healthy lists the rules about costs, each with the healthy programs for which it holds as well.
// Something always costs most, so their findings are not unusual.
var healthy = map[string]string{
	"recursion":     "parsers, interpreters and tree searches are in recursion most of the time",
	"gc":            "programs that make many objects spend a fifth of their time there by design",
	"kernel":        "copying files and sending packets is kernel work",
	"hot":           "some function has the largest self, and in a small program most of it",
	"garbage":       "most allocated memory is temporary in most programs",
	"keeper":        "some function has allocated most of the memory in use",
	"own":           "some function of the program leads to most of the work",
	"library":       "formatting, parsing and copying are what many programs do",
	"start":         "programs load and prepare, and a short recording is mostly that",
	"join":          "a thread that hands work to another one waits for it",
	"part":          "some callee takes most of the time of the calls that repeat",
	"operator":      "some operator launches most of the work of a GPU",
	"communication": "training on several GPUs exchanges gradients",
}

func (r *rule) kind() Kind {
	if healthy[r.name] != "" {
		return Cost
	}
	return Unusual
}

// rule looks for one kind of problem.
type rule struct {
	name, what, wrong string
	find              func(*look, rule) error
	of                subject
}

// subject is what a rule examines.
type subject int

const (
	alone  subject = iota // the default event, and what the rule finds by itself
	beside                // also the samples beside spans, see look.beside
)

// rules lists all rules, in the order of the manual.
var rules = []rule{
	{"sampler", "records are skipped, samples lost, stacks truncated or broken, or names missing", "the loss is spread evenly, so shares are still right", (*look).sampler, alone},
	{"recursion", "recursion at least 16 deep in at least 25 % of the total", "the function walks a tree, or parses or interprets a program", (*look).recursion, beside},
	{"lock", "lock waits are at least 10 % of the total", "these threads exist to wait", (*look).lock, alone},
	{"gc", "garbage collection is at least 20 % of the non-idle total", "the collector ran on otherwise idle processors", (*look).gc, beside},
	{"kernel", "the kernel is at least 50 % of the non-idle total", "the program's work is kernel work, such as copying files or sending packets", (*look).kernel, beside},
	{"hot", "one function's self is at least 50 % of the non-idle total of samples, or 75 % of that of spans and 50 % of their total", "the function is the program's purpose", (*look).hot, beside},
	{"garbage", "a function allocates at least 33 % of all memory and keeps at most 5 % of it, while others keep some", "the recording ends after the work, when all memory is freed anyway", (*look).garbage, alone},
	{"keeper", "a function, with the library code it calls, allocated at least 50 % of the memory in use", "the program needs this memory until it ends", (*look).keeper, alone},
	{"outlier", "at most 30 % of the calls that repeat on a thread are slow and add at least 5 % to their time (2 % if they take at least 3 times the median), and an argument, a callee, another thread or a rhythm explains them", "the slow calls are meant to do more work, or the overlap is a coincidence", (*look).outlier, alone},
	{"rare", "at most three of the calls that repeat on a thread take at least ten times the median and 100 ms, which no other nearly takes, together at least 10 % of the time from the first to the last; those shorter than 1 s only if they are the first ones or call what no other does", "the long calls are meant to do more work, or another program ran meanwhile", (*look).rare, alone},
	{"pause", "at most 10 % of the gaps between calls that repeat on a thread are at least 8 times the median gap and 4 times all other gaps, and take at least 10 % of the time; or a thread waits about as long between all its calls, however long they take, for at least 75 % of the time in total", "the program waited for input, or paces itself on purpose", (*look).pause, alone},
	{"many", "a function calls another at least 20 times per call, for at least 40 % of its time and 20 % of the total", "the calls cannot be joined into one", (*look).many, alone},
	{"straggler", "a function takes at least 1.5 times as much self time per call on one thread as on each similar thread", "the thread is meant to do more work", (*look).straggler, alone},
	{"rank", "one rank of a distributed job keeps all others waiting in collective operations for at least 10 % of the time: half of the time for which any rank does so, in each quarter of the job the longest time, and with 99.9 % confidence not by chance", "the rank is meant to do more work", (*look).rank, alone},
	{"holder", "a thread holds a lock for at least half of the time in which others wait for it, at least 5 % of the recording, or several threads hold it in turn, at least 10 %; or waits for a lock that is held for at least 1 % of the recording are at least 10 % of the time in which threads have work", "the waiting threads have no other work", (*look).holder, alone},
	{"bottleneck", "others wait at channels or for signals at least 50 times until one thread lets them go on, together for at least half as long as the recording, while that thread itself hardly waits", "the waiting threads have no other work", (*look).bottleneck, alone},
	{"disk", "a thread sleeps uninterruptibly at least 50 times, for at least 10 % of the recording or at least 20 times as often as each similar thread", "the thread exists to write or read files", (*look).disk, alone},
	{"leak", "at least 50 threads of one function start, some in each third of the recording, and wait until its end for at least a tenth of it; or at least 50 goroutines of a profile, and half of all, are in one function of the program", "the threads end after the recording, or are meant to stay", (*look).leak, alone},
	{"uneven", "one of at least three threads whose names differ only in digits has at least three times the work of the median of the others and twice that of the next, and works for at least 25 % of the recording", "the thread is meant to do more work", (*look).uneven, alone},
	{"turns", "at least three threads wait at one place for each other, or for a result or a free resource, for at least 25 % of the recording and of the time in which they have work", "the waiting threads have no other work", (*look).taking, alone},
	{"poll", "a function calls another one to sleep at least three times per call, for at least 80 % of its time and 10 % of the total; or a thread sleeps at one place at least 200 times, for at most 5 ms each (median), and hardly runs or wakes others in between", "the waits are paced on purpose", (*look).poll, alone},
	{"wakeup", "at least half of at least 200 waits at one place end in vain: the thread runs for at most 25 µs and waits again at the same place", "each wake-up does the little work that it is meant for", (*look).wakeup, alone},
	{"processor", "threads wait for a processor for at least 25 % of the recording and half of the time in which they could run, while one processor is busy for at least 90 % of the time and has at least 90 % of the work of all", "the other processors are meant for other programs", (*look).processor, alone},
	{"phase", "in a stretch of the calls that repeat on a thread, at least 40 % call a function that at most 40 % as many of the others call, for at least 10 % of the time", "the calls in the stretch are meant to do more work", (*look).phase, alone},
	{"climb", "the counter of a queue or of memory rises at least threefold, in even steps; a heap for at least 10 s or four garbage collections", "the recording ends before the program is warm", (*look).climb, alone},
	{"own", "a function of the program, with the library code it calls, has at least 50 % of the non-idle total, or 40 % and at least twice as much as any other function, or 25 % and at least three times as much", "the function is the program's purpose", (*look).own, beside},
	{"library", "one kind of library work, such as throwing exceptions, syncing files, compiling regular expressions, formatting text, copying memory, setting up encrypted connections or accessing files while the event loop waits, is at least 25 % of the non-idle total (allocating memory 40 %)", "the work is the program's purpose", (*look).library, beside},
	{"start", "one call takes at least 25 % of the recording before calls of another function begin to repeat on its thread", "the program prepares only once, and runs much longer than the recording", (*look).start, alone},
	{"join", "a function that waits has at least 20 % of a thread's time, and at least 70 % of its calls end with the calls of one function on another thread", "the other calls are meant to do that much work, or the calls end together by coincidence", (*look).join, alone},
	{"part", "a function takes at least 70 % of the time of the calls that repeat on a thread, without its waits, and these call at least two others", "the function is the program's purpose", (*look).part, alone},
	{"mode", "at most 20 % of a function's calls form a slow mode with at least 40 % of its time, and most other functions do not lose a third as much to long calls", "the slow calls do other work that is meant to take longer", (*look).mode, alone},
	{"slower", "calls of a function take at least twice as long at the end as at the start, by more than they vary within a quarter of the time, and unless most other functions grow a third as much at once", "later calls have more work", (*look).slower, alone},
	{"starving", "a thread has at most 2 % of the median of the threads with the same name", "the thread is reserved for other work, or started late", (*look).starving, alone},
	{"gpu", "a GPU is idle for one cause, or only copies, for at least 25 % of the time in use (10 % while memory is allocated or freed); or two streams, each with at least 20 % of its work, take turns", "the program has too little work for the GPU, or another program uses it, or one stream needs the results of the other", (*look).gpu, alone},
	{"step", "at most 30 % of the steps that launch GPU work take at least 1.3 times the median and cost at least 2 % of the time, or steps take at least 1.5 times as long at the end", "the slow steps are meant to do more or different work", (*look).step, alone},
	{"communication", "a GPU communicates with others for at least 25 % of the time in use while it computes nothing, without waits for a rank that the rule rank reports", "other GPUs are late: communication includes waiting for them", (*look).communication, alone},
	{"operator", "one operator launches at least 50 % of the work of a GPU that is busy for more than 80 % of the time", "the operator is the program's purpose", (*look).operator, alone},
	{"stall", "no thread ran for at least 10 % of the time", "the program waited for input or for another program", (*look).stall, alone},
}

// Rule describes a rule: its name, its kind, what it finds and when it is wrong. Healthy says
// of a cost which healthy programs have it.
type Rule struct {
	Name        string
	Kind        Kind
	What, Wrong string
	Healthy     string
}

// Describe describes all rules.
func Describe() (all []Rule) {
	for _, r := range rules {
		all = append(all, Rule{r.name, r.kind(), r.what, r.wrong, healthy[r.name]})
	}
	return append(all, Rule{"difference", Unusual, "with two recordings: the total or a function's self changes by at least 3 % of A, at 99 % confidence", differenceWrong, ""})
}
