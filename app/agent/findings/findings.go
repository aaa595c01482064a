// Package findings applies fixed rules to a recording and reports what is unusual. The
// same recording always gives the same findings, each with its evidence, size, confidence
// and known limits.
//
// A share of samples counts only if it exceeds its rule's threshold with 95 % confidence;
// times of spans are exact. A rule is skipped if the recording lacks the data it needs.
package findings

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"ashlar/app/core/evidence"
	"ashlar/app/core/view"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/gpu"
	"ashlar/ingest/query/repeat"
	"ashlar/ingest/query/spans"
	"ashlar/ingest/query/waits"
	"ashlar/render/units"
)

// Finding is one result of a rule.
type Finding struct {
	// Rule is the rule's name, as listed by help findings.
	Rule string `json:"rule"`
	// Claim is the finding as a sentence.
	Claim string `json:"claim"`
	// Function and Thread name the subject of the finding as the recording does.
	Function string `json:"function,omitempty"`
	Thread   string `json:"thread,omitempty"`
	Size     Size   `json:"size"`
	// Confidence is the probability, from 0 to 1, that the size is above the rule's
	// threshold; null if nothing was sampled, if the number of samples is unknown, or if
	// the total is too large to store.
	Confidence *json.Number `json:"confidence"`
	// WrongWhen describes when the rule's conclusion is wrong.
	WrongWhen string `json:"wrong_when"`
	// Address shows the evidence, Command prints it.
	Address string `json:"address"`
	Command string `json:"command"`
	// Numbers are the numbers in Claim, in its order, each with a claim that recomputes it.
	// They are absent in overview.
	Numbers []Number `json:"numbers,omitempty"`

	names []string // names in Claim without quotes
}

// Size is the size of a finding. Value and Of are exact decimals in Unit, values of a
// metric of an event. Share is Value as a fraction of Of, from 0 to 1.
type Size struct {
	Value  json.Number `json:"value"`
	Unit   string      `json:"unit"`
	Metric string      `json:"metric"`
	Event  string      `json:"event,omitempty"`
	Share  json.Number `json:"share"`
	Of     json.Number `json:"of"`
	// Samples is the number of samples behind Of; 0 if unknown or if nothing was sampled.
	Samples int64 `json:"samples"`

	share float64
	bound bool // Of is a lower bound
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
	{"recursion", "recursion at least 16 deep in at least 25 % of the total", "the function walks a tree, parses or interprets a program", (*look).recursion, beside},
	{"lock", "lock waits are at least 10 % of the total", "these threads exist to wait", (*look).lock, alone},
	{"gc", "garbage collection is at least 20 % of the non-idle total", "the collector ran on otherwise idle processors", (*look).gc, beside},
	{"kernel", "the kernel is at least 50 % of the non-idle total", "the program's work is kernel work, such as copying files or sending packets", (*look).kernel, beside},
	{"hot", "one function's self is at least 50 % of the non-idle total of samples, or 75 % of that of spans and 50 % of their total", "the function is the program's purpose", (*look).hot, beside},
	{"garbage", "a function allocates at least 33 % of all memory and keeps at most 5 % of it, while others keep some", "the recording ends after the work, when all memory is freed anyway", (*look).garbage, alone},
	{"keeper", "a function, with the library code it calls, allocated at least 50 % of the memory in use", "the program needs this memory until it ends", (*look).keeper, alone},
	{"outlier", "at most 30 % of the calls that repeat on a thread are slow and add at least 5 % to their time (2 % if they take at least 3 times the median), and an argument, a callee, another thread or a rhythm explains them", "the slow calls have more work on purpose, or the overlap is a coincidence", (*look).outlier, alone},
	{"rare", "at most three of the calls that repeat on a thread take at least ten times the median and 100 ms, which no other nearly takes, together at least 10 % of the time from the first to the last", "the long calls have more work on purpose, or another program ran meanwhile", (*look).rare, alone},
	{"pause", "at most 10 % of the gaps between calls that repeat on a thread are at least 8 times the median gap and 4 times all other gaps, and take at least 10 % of the time; or a thread waits about as long between all its calls, however long they take, for at least 75 % of the time in total", "the program waited for input, or paces itself on purpose", (*look).pause, alone},
	{"many", "a function calls another at least 20 times per call, for at least 40 % of its time and 20 % of the total", "the calls cannot be joined into one", (*look).many, alone},
	{"straggler", "a function takes at least 1.5 times as much self time per call on one thread as on each similar thread", "the thread has more work on purpose", (*look).straggler, alone},
	{"rank", "one rank of a distributed job keeps all others waiting in collective operations for at least 10 % of the time: half of the time for which any rank does so, in each quarter of the job the longest time, and with 99.9 % confidence not by chance", "the rank has more work on purpose", (*look).rank, alone},
	{"holder", "a thread holds a lock for at least half of the time in which others wait for it, at least 5 % of the recording, or several threads hold it in turn, at least 10 %; or waits for a lock that is held for at least 1 % of the recording are at least 10 % of the time in which threads have work", "the waiting threads have no other work", (*look).holder, alone},
	{"bottleneck", "others wait at channels or for signals at least 50 times until one thread lets them go on, together for at least half as long as the recording, while that thread itself hardly waits", "the others have no other work", (*look).bottleneck, alone},
	{"disk", "a thread sleeps uninterruptibly at least 50 times, for at least 10 % of the recording or at least 20 times as often as each similar thread", "the thread exists to write or read files", (*look).disk, alone},
	{"leak", "at least 50 threads of one function start, some in each third of the recording, and wait until its end for at least a tenth of it; or at least 50 goroutines of a profile, and half of all, are in one function of the program", "the threads end after the recording, or are meant to stay", (*look).leak, alone},
	{"uneven", "one of at least three threads whose names differ only in digits has at least three times the work of the median of the others and twice that of the next, and works for at least 25 % of the recording", "the thread has more work on purpose", (*look).uneven, alone},
	{"turns", "at least three threads wait at one place for each other, or for a result or a free resource, for at least 25 % of the recording and of the time in which they have work", "the waiting threads have no other work", (*look).taking, alone},
	{"poll", "a function calls another one to sleep at least three times per call, for at least 80 % of its time and 10 % of the total; or a thread sleeps at one place at least 200 times, for at most 5 ms each (median), and hardly runs or wakes others in between", "the waits are paced on purpose", (*look).poll, alone},
	{"wakeup", "at least half of at least 200 waits at one place end in vain: the thread runs for at most 25 µs and waits again at the same place", "each wake-up does the little work that it is meant for", (*look).wakeup, alone},
	{"processor", "threads wait for a processor for at least 25 % of the recording and half of the time in which they could run, while one processor is busy for at least 90 % of the time and has at least 90 % of the work of all", "the other processors are meant for other programs", (*look).processor, alone},
	{"phase", "in a stretch of the calls that repeat on a thread, at least 40 % call a function that at most 40 % as many of the others call, for at least 10 % of the time", "the calls in the stretch have more work on purpose", (*look).phase, alone},
	{"climb", "the counter of a queue or of memory rises at least threefold, in even steps; a heap for at least 10 s or four garbage collections", "the recording ends before the program is warm", (*look).climb, alone},
	{"own", "a function of the program, with the library code it calls, has at least 50 % of the non-idle total, or 40 % and at least twice as much as any other function, or 25 % and at least three times as much", "the function is the program's purpose", (*look).own, beside},
	{"library", "one kind of library work, such as throwing exceptions, syncing files, compiling regular expressions, formatting text, copying memory or setting up encrypted connections, is at least 25 % of the non-idle total (allocating memory 40 %)", "the work is the program's purpose", (*look).library, beside},
	{"start", "one call takes at least 25 % of the recording before calls of another function begin to repeat on its thread", "the program prepares only once, and runs much longer than the recording", (*look).start, alone},
	{"join", "a function that waits has at least 20 % of a thread's time, and at least 70 % of its calls end with the calls of one function on another thread", "the other calls have that much work on purpose, or the calls end together by coincidence", (*look).join, alone},
	{"part", "a function takes at least 70 % of the time of the calls that repeat on a thread, without its waits, and these call at least two others", "the function is the program's purpose", (*look).part, alone},
	{"mode", "at most 20 % of a function's calls form a slow mode with at least 40 % of its time", "the slow calls do other work that is meant to take longer", (*look).mode, alone},
	{"slower", "calls of a function take at least twice as long at the end as at the start", "later calls have more work", (*look).slower, alone},
	{"starving", "a thread has at most 2 % of the median of the threads with the same name", "the thread is reserved for other work, or started late", (*look).starving, alone},
	{"gpu", "a GPU is idle for one cause, or only copies, for at least 25 % of the time in use (10 % while memory is allocated or freed); or two streams, each with at least 20 % of its work, take turns", "the program has too little work for the GPU, or another program uses it, or one stream needs the results of the other", (*look).gpu, alone},
	{"step", "at most 30 % of the steps that launch GPU work take at least 1.3 times the median and cost at least 2 % of the time, or steps take at least 1.5 times as long at the end", "the slow steps do other or more work on purpose", (*look).step, alone},
	{"communication", "a GPU communicates with others for at least 25 % of the time in use while it computes nothing, without waits for a rank that the rule rank reports", "other GPUs are late: communication includes waiting for them", (*look).communication, alone},
	{"operator", "one operator launches at least 50 % of the work of a GPU that is busy for more than 80 % of the time", "the operator is the program's purpose", (*look).operator, alone},
	{"stall", "no thread ran for at least 10 % of the time", "the program waited for input or for another program", (*look).stall, alone},
}

// Describe returns for each rule its name, what it finds and when it is wrong.
func Describe() (all [][3]string) {
	for _, r := range rules {
		all = append(all, [3]string{r.name, r.what, r.wrong})
	}
	return append(all, [3]string{"difference", "with two recordings: the total or a function's self changes by at least 3 % of A, at 99 % confidence", differenceWrong})
}

// Costs are the sums of a metric by call, without the rows that profilers add themselves.
type Costs struct {
	rec     *recording.Recording
	query   analyze.Query
	event   *recording.Event
	metric  *recording.Metric
	weights *analyze.Weights // nil if the recording has no event
	rows    []analyze.Row    // see Rows
	totals  []int64          // see total
	sum     int64
	behind  evidence.Sampled // samples behind sum
	locks   []waits.Lock     // see Locks; nil if not found yet
}

// Weigh sums up the default metric of a recording.
func Weigh(ctx context.Context, rec *recording.Recording) (*Costs, error) {
	e, m, err := analyze.Choose(rec, "", "")
	if err != nil {
		return nil, err
	}
	return weigh(ctx, rec, e, m)
}

// weigh sums up a metric of an event; event -1 means no event.
func weigh(ctx context.Context, rec *recording.Recording, event, metric int) (*Costs, error) {
	c := &Costs{rec: rec}
	if event < 0 {
		return c, nil
	}
	c.query = analyze.Query{Event: event, Metric: metric, Scope: analyze.Apart(rec, recording.Scope{})}
	c.event = &rec.Events[event]
	c.metric = &c.event.Metrics[metric]
	w, err := analyze.Weigh(ctx, rec, c.query)
	if err != nil {
		return nil, err
	}
	c.weights, c.sum = w, w.Sum
	c.behind, err = evidence.SampledOf(ctx, rec, c.query, w)
	return c, err
}

// Locks returns what threads of the recording waited for; nothing without their states.
func (c *Costs) Locks(ctx context.Context) (all []waits.Lock, err error) {
	if c.locks == nil && c.rec.Counts.States > 0 {
		c.locks, err = waits.Of(ctx, c.rec, analyze.Apart(c.rec, recording.Scope{}))
	}
	return c.locks, err
}

// Weights returns the sums by call, and the query that led to them; nil if the recording
// has no event.
func (c *Costs) Weights() (*analyze.Weights, analyze.Query) { return c.weights, c.query }

// Sampled returns the samples behind the sums.
func (c *Costs) Sampled() evidence.Sampled { return c.behind }

// Rows returns the rows of functions, and a row for weight without a stack if there is any. They
// must not be changed.
func (c *Costs) Rows() []analyze.Row {
	if c.rows == nil {
		c.rows = analyze.TableOf(c.rec, c.weights, analyze.ByFunction)
	}
	return c.rows
}

// look examines a recording by the costs of one of its metrics.
type look struct {
	*Costs
	ctx       context.Context
	shown     []*recording.Recording // recordings in addresses: rec, or the two compared
	spans     []*spans.Durations     // of the heavy functions; see lengths
	classes   []class                // indexed by function
	classSums map[[2]class]classed   // see classed
	devices   []*gpu.Device          // see gpus
	looked    bool                   // devices is set
	loops     []repeat.Loop          // see repeating
	looped    bool                   // loops is set
	called    []int64                // see callsIn
	calledOn  map[functionOn]int     // see callsOn
	tree      *analyze.Tree          // see around
	explained bool                   // outlier explained slow calls
	late      int64                  // time for which all wait for the rank that the rule rank reports
	out       []Finding
}

// Of returns the findings of all rules for a recording, the largest share first.
func Of(ctx context.Context, rec *recording.Recording) ([]Finding, error) {
	costs, err := Weigh(ctx, rec)
	if err != nil {
		return nil, err
	}
	return costs.Findings(ctx)
}

// Findings is like [Of], for callers that also need the costs.
func (c *Costs) Findings(ctx context.Context) ([]Finding, error) {
	l := &look{Costs: c, ctx: ctx, shown: []*recording.Recording{c.rec}, out: []Finding{}}
	if l.weights != nil {
		l.classes = classesOf(c.rec)
	}
	for _, r := range rules {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := r.find(l, r); err != nil {
			return nil, err
		}
	}
	if err := l.beside(); err != nil {
		return nil, err
	}
	order.By(l.out, func(a, b Finding) int { return cmp.Compare(b.Size.share, a.Size.share) })
	l.finish(evidence.File(l.rec))
	return l.out, nil
}

// beside applies the rules about stacks to the samples of a recording whose default event
// is spans, such as the CPU profile in a trace of a browser.
func (l *look) beside() error {
	if l.event == nil {
		return nil
	}
	if l.sampled() {
		return l.native()
	}
	for e := range l.rec.Events {
		if l.rec.Events[e].Basis != recording.FromSamples {
			continue
		}
		other, err := l.other(e, l.rec.Events[e].Primary)
		if err != nil {
			return err
		}
		if m := other.metric; m.Unit == "ns" && 20*float64(other.busy()) < float64(l.rec.Duration())/1000*math.Pow10(int(m.Decimals)) {
			continue // these samples show too little of the time to matter
		}
		for _, r := range rules {
			if r.of != beside {
				continue
			}
			if err := r.find(other, r); err != nil {
				return err
			}
		}
		l.out = other.out
	}
	return nil
}

// native applies the rule library to samples of threads that run native code, which a Java
// recorder keeps apart from others.
func (l *look) native() error {
	for e := range l.rec.Events {
		if l.rec.Events[e].Name != "jdk.NativeMethodSample" {
			continue
		}
		other, err := l.other(e, l.rec.Events[e].Primary)
		if err != nil || 2*other.behind.Samples < l.behind.Samples {
			return err
		}
		for _, r := range rules {
			if r.name == "library" {
				if err := r.find(other, r); err != nil {
					return err
				}
			}
		}
		l.out = other.out
	}
	return nil
}

// costName returns the name of the metric for use in a sentence, with the event unless that
// is the default.
func (l *look) costName() name {
	switch {
	case l.ofSpans():
		return "the time in spans" // threads may have none for most of the recording
	case l.isDefault():
		return name(l.metric.Name)
	}
	return name(l.metric.Name + " in " + safetext.Short(l.event.Title()))
}

// ofSpans reports whether the costs are the time of spans.
func (l *look) ofSpans() bool {
	return l.weights != nil && !l.sampled() && l.query.Metric == recording.SpanTime
}

// other examines another metric of the recording.
func (l *look) other(event, metric int) (*look, error) {
	c, err := weigh(l.ctx, l.rec, event, metric)
	if err != nil {
		return nil, err
	}
	other := *l
	other.Costs, other.spans, other.tree, other.classSums = c, nil, nil, nil
	return &other, nil
}

// functions returns the rows of functions for which keep returns true.
func (l *look) functions(keep func(*analyze.Row) bool) (rows []analyze.Row) {
	all := l.Rows()
	for i := range all {
		if r := &all[i]; r.IsFunction(l.rec) && keep(r) {
			rows = append(rows, *r)
		}
	}
	return rows
}

// heaviest returns the function with the largest self outside stacks of idle functions, and
// that self; ok is false if there are fewer than two functions.
func (l *look) heaviest() (first analyze.Row, self int64, ok bool) {
	of, idle := make([]int64, l.rec.Functions.Len()), l.waiting()
	for c := 1; c < len(l.weights.Self); c++ {
		if idle == nil || !idle[c] {
			of[l.rec.Func(recording.CallID(c))] += l.weights.Self[c]
		}
	}
	n := 0
	for i := range l.Rows() {
		r := &l.rows[i]
		if !r.IsFunction(l.rec) {
			continue
		}
		if n++; n == 1 || of[r.Func] > self {
			first, self = *r, of[r.Func]
		}
	}
	return first, self, n > 1
}

// sampled reports whether the weights were sampled rather than measured.
func (l *look) sampled() bool { return l.event != nil && l.event.Basis != recording.FromSpans }

// enough is the smallest number of samples from which rules draw conclusions.
const enough = 50

// above returns the confidence that a part of a sum is above a share of it, and whether that
// is high enough to report. For samples it uses the normal approximation, with the samples
// behind that sum, which may be a part of the total. With negative costs, a share of the sum has
// no meaning. The confidence in a share of a saturated
// sum is unknown.
func (l *look) above(part, sum int64, threshold float64) (*json.Number, bool) {
	share := l.share(part, sum)
	samples := l.behind.Worth * l.share(sum, l.sum)
	switch {
	case share < threshold || l.weights != nil && l.weights.Negative() < 0: // too small, or not a part of a whole
		return nil, false
	case !l.sampled() || l.behind.Samples == 0 || l.overflowed():
		return nil, true
	case samples < enough:
		return nil, false
	}
	c := normal((share - threshold) / math.Sqrt(threshold*(1-threshold)/samples))
	return decimal(c), c >= .95
}

// overflowed reports whether the sum is a lower bound, because it exceeds 64 bits.
func (l *look) overflowed() bool { return l.metric != nil && l.metric.Saturated() }

// normal returns the probability that a standard normal variable is below z.
func normal(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

func decimal(v float64) *json.Number {
	n := json.Number(strconv.FormatFloat(v, 'f', 4, 64))
	return &n
}

// size returns a part of the sum, with its share.
func (l *look) size(part int64) Size { return l.sizeOf(part, l.sum) }

func (l *look) sizeOf(part, whole int64) Size {
	s := Size{Value: exact(part, l.metric), Unit: l.metric.Unit, Metric: l.metric.Name, Event: l.event.Name, Of: exact(whole, l.metric), Samples: l.behind.Samples, Share: "0", bound: l.overflowed()}
	if whole != 0 {
		s.share = float64(part) / float64(whole)
		s.Share = *decimal(s.share)
	}
	return s
}

func exact(v int64, m *recording.Metric) json.Number {
	return json.Number(recording.Decimal{Mantissa: v, Scale: m.Decimals}.String())
}

// evidence sets the address and the command that show a finding, from a view and the
// command's arguments.
func (l *look) evidence(f *Finding, state view.State, args ...string) {
	if !l.isDefault() {
		state.Event, state.Metric = view.EventName(l.event), l.metric.Name
	}
	f.Address = evidence.Address(state, l.shown...)
	f.Command = evidence.Command(l.rec, l.withMetric(args...)...)
}

// threadWord returns the word for the threads of the recording, such as goroutine.
func (l *look) threadWord() string { return l.rec.ThreadWord(recording.NoTrack) }

// add records a finding of a rule.
func (l *look) add(r rule, f Finding, state view.State, args ...string) {
	f.Rule, f.WrongWhen = r.name, strings.ReplaceAll(r.wrong, "thread", l.threadWord())
	if f.Size.bound {
		f.say(" The total is too large to store: it is a lower bound, and the share may be smaller.")
	}
	l.evidence(&f, state, args...)
	l.out = append(l.out, f)
}

// of returns a view of a function on a tab.
func of(f recording.Function, tab string) view.State {
	name := f.FuncName()
	return view.State{Function: &name, Tab: tab}
}

func typed(rec *recording.Recording, f recording.Function) string {
	return analyze.RefTo(f).Typed(rec)
}

// quoted quotes a name from a recording for use in a sentence.
func quoted(name string) string {
	return "“" + safetext.Short(funcname.Brief(name, funcname.InSentence)) + "”"
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// Text writes a finding for people, with its evidence.
func (f *Finding) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %s: %s", f.Rule, f.Claim)
	if f.Confidence != nil {
		c, _ := f.Confidence.Float64()
		fmt.Fprintf(&b, " %s sure.", units.Level(c))
	}
	fmt.Fprintf(&b, "\n      false alarm if %s\n      %s\n", f.WrongWhen, f.Command)
	return b.String()
}
