// Package match pairs the functions, threads and places of several recordings: by name,
// by the parts of names that do not change from build to build, and by callers, callees
// and cost.
package match

import (
	"fmt"
	"sort"
	"strings"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// A Rule is the reason why two things were matched.
type Rule string

// Rules in the order in which they are tried.
const (
	Unmatched   Rule = ""        // in no other recording
	RuleHand    Rule = "hand"    // paired by the user
	RuleModule  Rule = "module"  // the same name and module
	RuleName    Rule = "name"    // the same name
	RuleSimilar Rule = "similar" // the same normalName
	RuleOrder   Rule = "order"   // threads only: remaining threads in order
)

// Words describe a rule to a person: "by name and module"; Unmatched is "not matched".
func (r Rule) Words() string {
	switch r {
	case RuleHand:
		return "by hand"
	case RuleModule:
		return "by name and module"
	case RuleName:
		return "by name only"
	case RuleSimilar:
		return "by similar name"
	case RuleOrder:
		return "by order"
	case RuleRenamed:
		return "renamed"
	}
	return "not matched"
}

// A Pair names a function of A and its counterpart in B, each as NAME or NAME@MODULE.
type Pair struct {
	A string `json:"a"`
	B string `json:"b"`
}

// Options choose the rules. The zero value uses all of them.
type Options struct {
	NoModule, NoName, NoSimilar bool
	// NoOrder leaves threads with different names unmatched.
	NoOrder bool
	// NoRenamed leaves functions with entirely different names unmatched. Apart lists
	// pairs that must not be matched by RuleRenamed.
	NoRenamed   bool
	Hand, Apart []Pair
}

// Rules returns the enabled rules, separated by commas, or "" if all are.
func (o Options) Rules() string {
	var on []string
	for _, r := range []struct {
		off  bool
		name string
	}{{o.NoModule, "module"}, {o.NoName, "name"}, {o.NoSimilar, "similar"}, {o.NoOrder, "order"}, {o.NoRenamed, "renamed"}} {
		if !r.off {
			on = append(on, r.name)
		}
	}
	switch len(on) {
	case 5:
		return ""
	case 0:
		return "none"
	}
	return strings.Join(on, ",")
}

// Base returns the matching before renamed functions were matched.
func (m *Matching) Base() *Matching {
	if m.base != nil {
		return m.base
	}
	return m
}

// A Func is a function of the comparison: functions of the recordings that were matched
// as one.
type Func struct {
	// FuncName and File are from the first recording that has the function.
	recording.FuncName
	File string
	// In is the function of each recording, or -1.
	In []int32
	// By is the rule that matched the function of each recording, Unmatched for the first
	// recording that has it.
	By []Rule
}

// Rule returns the rule that matched the two sides of the function in a matching of two
// recordings, Unmatched if only one side has it.
func (f *Func) Rule() Rule {
	r := Unmatched
	for _, by := range f.By {
		if by != Unmatched {
			r = by
		}
	}
	return r
}

// A Matching tells which functions of several recordings are the same.
type Matching struct {
	Funcs []Func
	// IDs maps the functions of each recording to indices in Funcs.
	IDs [][]int32

	base *Matching // before renamed functions were matched
}

// Functions matches the functions of the recordings of sides A and B. Each rule sees only
// the functions that earlier rules left unmatched, and no function is matched twice. If a
// rule has several candidates, the pairs that agree most are matched: in kind, module,
// base name of the module, source file, and then in how much of the names is equal at
// both ends. Swapping two recordings swaps the pairs.
//
// Functions without a name (bare addresses) are matched only by module and address. If a
// manual pair names no function, the error says which.
func Functions(a, b []*recording.Recording, o Options) (*Matching, error) {
	recs := append(append([]*recording.Recording(nil), a...), b...)
	items := make([][]item, len(recs))
	for r, rec := range recs {
		items[r] = make([]item, rec.Functions.Len())
		for i := range items[r] {
			f := rec.Functions.At(i)
			items[r][i] = item{f.Name, f.Module, f.File, f.Unresolved, f.Kind}
		}
	}
	var steps []step
	if !o.NoModule {
		steps = append(steps, step{RuleModule, func(x *item) string { return x.name + "\x00" + x.module }})
	}
	if !o.NoName {
		steps = append(steps, step{RuleName, func(x *item) string {
			if x.bare {
				return ""
			}
			return x.name
		}})
	}
	if !o.NoSimilar {
		steps = append(steps, step{RuleSimilar, func(x *item) string {
			if x.bare {
				return ""
			}
			return normalName(x.name)
		}})
	}
	m := newMatcher(items)
	for r := range recs {
		m.begin(r)
		if r >= len(a) {
			m.byHand(r, o.Hand)
		}
		m.run(r, steps)
	}
	for k, p := range o.Hand {
		if !m.used[k] {
			return nil, fmt.Errorf("pair %s=%s: the first function must be in A, the second in B", p.A, p.B)
		}
	}
	return m.matching(), nil
}

type item struct {
	name, module, file string
	bare               bool // the name is only an address
	kind               recording.Kind
}

// mayBe reports whether two items can be the same: kernel code never matches the code of
// a program, whatever its name.
func (x *item) mayBe(y *item) bool {
	return x.kind == recording.KindUnknown || y.kind == recording.KindUnknown || x.kernel() == y.kernel()
}

func (x *item) kernel() bool { return x.kind == recording.KindKernel }

// step matches items with equal keys by a rule; "" is not a key.
type step struct {
	rule Rule
	key  func(*item) string
}

// matcher matches the items of several recordings, one recording after another.
type matcher struct {
	items [][]item
	funcs []Func
	ids   [][]int32
	used  map[int]bool // manual pairs that matched something
}

func newMatcher(items [][]item) *matcher {
	return &matcher{items: items, ids: make([][]int32, len(items)), used: map[int]bool{}}
}

func (m *matcher) matching() *Matching { return &Matching{Funcs: m.funcs, IDs: m.ids} }

func (m *matcher) begin(r int) {
	m.ids[r] = make([]int32, len(m.items[r]))
	for i := range m.ids[r] {
		m.ids[r][i] = -1
	}
}

func (m *matcher) join(r int, i, f int32, rule Rule) {
	m.ids[r][i] = f
	m.funcs[f].In[r] = i
	m.funcs[f].By[r] = rule
}

// run applies the rules to the unmatched items of recording r and adds the remaining ones
// as new functions.
func (m *matcher) run(r int, steps []step) {
	if r > 0 {
		for _, s := range steps {
			m.step(r, s)
		}
	}
	for i, f := range m.ids[r] {
		if f >= 0 {
			continue
		}
		x := &m.items[r][i]
		in := make([]int32, len(m.items))
		for k := range in {
			in[k] = -1
		}
		m.funcs = append(m.funcs, Func{FuncName: recording.FuncName{Name: x.name, Module: x.module}, File: x.file, In: in, By: make([]Rule, len(m.items))})
		m.join(r, int32(i), int32(len(m.funcs)-1), Unmatched)
	}
}

func (m *matcher) step(r int, s step) {
	type bucket struct{ old, new []int32 }
	buckets := map[string]*bucket{}
	var order []*bucket
	for i := range m.items[r] {
		if m.ids[r][i] >= 0 {
			continue
		}
		k := s.key(&m.items[r][i])
		if k == "" {
			continue
		}
		b := buckets[k]
		if b == nil {
			b = &bucket{}
			buckets[k] = b
			order = append(order, b)
		}
		b.new = append(b.new, int32(i))
	}
	if len(buckets) == 0 {
		return
	}
	for f := range m.funcs {
		if m.funcs[f].In[r] >= 0 {
			continue
		}
		if b := buckets[s.key(m.itemOf(f))]; b != nil {
			b.old = append(b.old, int32(f))
		}
	}
	for _, b := range order {
		m.pair(r, b.old, b.new, s.rule)
	}
}

func (m *matcher) itemOf(f int) *item {
	for r, i := range m.funcs[f].In {
		if i >= 0 {
			return &m.items[r][i]
		}
	}
	panic("match: neither recording has the function")
}

// mostPairs limits the number of candidate pairs to compare.
const mostPairs = 1 << 18

// pair matches candidates with the same key.
func (m *matcher) pair(r int, old, new []int32, rule Rule) {
	switch {
	case len(old) == 0 || len(new) == 0:
		return
	case len(old) == 1 && len(new) == 1:
		if m.itemOf(int(old[0])).mayBe(&m.items[r][new[0]]) {
			m.join(r, new[0], old[0], rule)
		}
		return
	}
	less := func(x, y *item) bool {
		if x.kernel() != y.kernel() {
			return x.kernel()
		}
		if x.module != y.module {
			return x.module < y.module
		}
		if x.file != y.file {
			return x.file < y.file
		}
		return x.name < y.name
	}
	sort.SliceStable(old, func(a, b int) bool { return less(m.itemOf(int(old[a])), m.itemOf(int(old[b]))) })
	sort.SliceStable(new, func(a, b int) bool { return less(&m.items[r][new[a]], &m.items[r][new[b]]) })
	if rule == RuleOrder || len(old)*len(new) > mostPairs {
		for k := range min(len(old), len(new)) {
			if m.itemOf(int(old[k])).mayBe(&m.items[r][new[k]]) {
				m.join(r, new[k], old[k], rule)
			}
		}
		return
	}
	type edge struct {
		o, n  int32
		score float64
	}
	edges := make([]edge, 0, len(old)*len(new))
	for _, o := range old {
		x := m.itemOf(int(o))
		for _, n := range new {
			if y := &m.items[r][n]; x.mayBe(y) {
				edges = append(edges, edge{o, n, likeness(x, y)})
			}
		}
	}
	// Edges that share an end come in the same order from either side, so the
	// greedy choice does not depend on which side is which.
	sort.SliceStable(edges, func(a, b int) bool { return edges[a].score > edges[b].score })
	for _, e := range edges {
		if m.ids[r][e.n] < 0 && m.funcs[e.o].In[r] < 0 {
			m.join(r, e.n, e.o, rule)
		}
	}
}

// likeness returns how much two candidates agree; it is symmetric.
func likeness(x, y *item) float64 {
	s := 0.0
	if x.kind == y.kind {
		s += 16
	}
	if x.module == y.module {
		s += 8
	}
	if analyze.ModuleBase(x.module) == analyze.ModuleBase(y.module) {
		s += 4
	}
	if x.file == y.file {
		s += 2
	}
	a, b := x.name, y.name
	n := min(len(a), len(b))
	pre := 0
	for pre < n && a[pre] == b[pre] {
		pre++
	}
	post := 0
	for post < n-pre && a[len(a)-1-post] == b[len(b)-1-post] {
		post++
	}
	if n := max(len(a), len(b)); n > 0 {
		s += float64(pre+post) / float64(n)
	}
	return s
}

// byHand matches the user's manual pairs.
func (m *matcher) byHand(r int, pairs []Pair) {
	for k, p := range pairs {
		var f, i int32 = -1, -1
		for c := range m.funcs {
			if m.funcs[c].In[r] < 0 && m.itemOf(c).called(p.A) {
				f = int32(c)
				break
			}
		}
		for c := range m.items[r] {
			if m.ids[r][c] < 0 && m.items[r][c].called(p.B) {
				i = int32(c)
				break
			}
		}
		if f >= 0 && i >= 0 {
			m.join(r, i, f, RuleHand)
			m.used[k] = true
		}
	}
}

// HasFunction reports whether a recording has the function that one side of a pair names.
func HasFunction(rec *recording.Recording, name string) bool {
	for _, f := range rec.Functions.Slice() {
		if analyze.IsCalled(f.FuncName(), name) {
			return true
		}
	}
	return false
}

func (x *item) called(name string) bool {
	return analyze.IsCalled(recording.FuncName{Name: x.name, Module: x.module}, name)
}
