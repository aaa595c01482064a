// Package findings applies fixed rules to a recording and reports what is unusual and what
// costs most. The same recording always gives the same findings, each with its evidence, size, confidence
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
	// Kind is unusual, or cost for a statement about what costs most, which is true of healthy
	// programs, too.
	Kind Kind `json:"kind"`
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

// Of returns the findings of all rules for a recording: what is unusual before costs, and of
// each kind the largest share first.
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
	order.By(l.out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(rank(a.Kind), rank(b.Kind)), cmp.Compare(b.Size.share, a.Size.share))
	})
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
	f.Rule, f.Kind, f.WrongWhen = r.name, r.kind(), strings.ReplaceAll(r.wrong, "thread", l.threadWord())
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
	fmt.Fprintf(&b, "\n      %s if %s\n      %s\n", f.Kind.Harmless(), f.WrongWhen, f.Command)
	return b.String()
}
