package spaa

import (
	"cmp"
	"slices"
	"strings"
)

// stackKey is a stack id in one word: packed by [ID.Key], or a hash.
type stackKey struct {
	v    uint64
	form IDForm
}

// Forms of stackKey for ids that do not pack.
const (
	hashedText   IDForm = 100
	hashedNumber IDForm = 101
)

type stackInfo struct {
	frames  uint64 // hash of the frame ids
	content uint64 // hash of the frames' identities
	event   uint64 // hash of the event's name
}

// stackRef is a reference to a stack, by one sort of record.
type stackRef struct {
	key  stackKey
	rule string
}

// stackRules are the rules about references to stacks.
var stackRules = map[string]string{"sample-stack": "sample", "window-stack": "window", "related-stacks": "stack"}

type stackWant struct {
	line int64
	rule string
	id   ID
}

func (v *validator) key(id ID) stackKey {
	k, form := id.Key()
	switch {
	case form != IDText:
		return stackKey{k, form}
	case id.number:
		return stackKey{v.hash(id.text), hashedNumber}
	}
	return stackKey{v.hash(id.text), hashedText}
}

// wantStackID records a reference to a stack that may still follow.
func (v *validator) wantStackID(id ID, rule string) {
	k := v.key(id)
	if _, ok := v.stacks[k]; ok {
		return
	}
	ref := stackRef{k, rule}
	if _, ok := v.wantStack[ref]; ok {
		return
	}
	id.text = strings.Clone(id.text)
	want := stackWant{v.lines.line, rule, id}
	if len(v.wantStack) >= v.opts.MaxPending {
		v.missingStack(want)
		return
	}
	v.wantStack[ref] = want
}

// compare orders by line, then by id and rule.
func (w stackWant) compare(o stackWant) int {
	return cmp.Or(cmp.Compare(w.line, o.line), cmp.Compare(w.id.quoted(), o.id.quoted()), cmp.Compare(w.rule, o.rule))
}

func (v *validator) missingStack(w stackWant) {
	hint := ""
	for _, id := range w.id.Spellings() {
		if _, ok := v.stacks[v.key(id)]; ok {
			hint = "; it has " + id.quoted() + ", the same number in another spelling"
			break
		}
	}
	v.addAt(w.line, w.rule, "the %s references stack %s, which is not in the file%s", stackRules[w.rule], w.id.quoted(), hint)
}

func (v *validator) checkStack(s *Stack) {
	if s.Context == nil {
		s.Context = new(Context)
	}
	event := v.checkContext(s.Context, true)
	v.checkFrames(s)
	v.checkStackID(s)
	v.addStack(s, event)
	switch t := s.StackType; t {
	case "", "unified", "user", "kernel":
		v.checkStackType(t)
	default:
		v.add("stack-type", "stack_type is %q, but must be unified, user or kernel", t)
	}
	if !v.parser.Lacks("weights") {
		v.checkWeights(s.Weights, event, true)
	}
	if s.Exclusive != nil {
		v.checkExclusive(s)
	} else {
		v.add("exclusive-missing", "the stack has no exclusive weights")
	}
	for _, id := range s.RelatedStacks {
		v.wantStackID(id, "related-stacks")
	}
}

// checkContext checks the context of a stack or sample and returns its event if the
// header defines it.
func (v *validator) checkContext(c *Context, isStack bool) *Event {
	v.nameThread(c.TID)
	if !given(c.Event, c.Extra, "event") {
		if isStack {
			v.add("context-event", "the context of the stack has no event")
		}
		return nil
	}
	if v.header == nil {
		return nil
	}
	e := v.events[c.Event]
	if e == nil {
		v.add("context-event", "the header has no event %q", c.Event)
	}
	return e
}

// checkFrames looks the frames up, leaf first, and checks their inline order.
func (v *validator) checkFrames(s *Stack) {
	v.path = v.path[:0]
	if len(s.Frames) == 0 {
		v.add("stack-empty", "the stack has no frames")
	}
	for _, id := range s.Frames {
		f, ok := v.frames[id]
		if !ok {
			if !v.want(v.wantFrame, id) {
				v.add("stack-frame", "the stack references frame %d, which is not defined before it", id)
			}
		}
		v.path = append(v.path, f) // the zero frameInfo if the frame is missing
	}
	if v.rootToLeaf() {
		slices.Reverse(v.path)
	}
	for i := 1; i < len(v.path); i++ {
		v.checkInline(&v.path[i-1], &v.path[i])
		v.checkGroup(i)
	}
}

func (v *validator) rootToLeaf() bool { return v.header != nil && v.header.FrameOrder == RootToLeaf }

// checkInline checks a frame and its caller.
func (v *validator) checkInline(f, caller *frameInfo) {
	if f.kind == 0 || caller.kind == 0 {
		return
	}
	if f.depth > 0 && caller.depth >= 0 && f.ip == caller.ip && caller.depth >= f.depth {
		v.add("inline-order", "a frame of inline depth %d is called by one of depth %d at the same address", f.depth, caller.depth)
		return
	}
	// After a physical frame an equal address is recursion, a new group.
	if f.inlined && f.ip != 0 && caller.ip != 0 {
		if f.ip != caller.ip {
			v.add("inline-shared", "an inlined frame and its caller have different addresses")
		} else if f.dso != caller.dso || f.symoff != caller.symoff {
			v.add("inline-shared", "inlined frames at one address differ in dso or symoff")
		}
	}
}

// checkGroup checks that inlined frames that follow a physical frame at the same address are
// a group of their own, as in a recursion: they end with a physical frame there.
func (v *validator) checkGroup(i int) {
	inner, f := &v.path[i-1], &v.path[i]
	if inner.kind == 0 || inner.depth != 0 || f.depth <= 0 || f.ip == 0 || f.ip != inner.ip {
		return
	}
	for _, caller := range v.path[i+1:] {
		if caller.ip != f.ip || caller.depth < 0 {
			break
		}
		if caller.depth == 0 {
			return
		}
	}
	v.add("inline-order", "a physical frame is called by a frame of inline depth %d at the same address", f.depth)
}

func (v *validator) checkStackType(stackType string) {
	var user, kernel bool
	for _, f := range v.path {
		user = user || f.kind == 'u'
		kernel = kernel || f.kind == 'k'
	}
	switch {
	case stackType == "user" && kernel:
		v.add("stack-type-frames", "the user stack has kernel frames")
	case stackType == "kernel" && user:
		v.add("stack-type-frames", "the kernel stack has user frames")
	case (stackType == "" || stackType == "unified") && user && kernel && v.tool() == "dtrace":
		v.add("dtrace-split", "a DTrace stack has user and kernel frames in one record")
	}
}

// tool is the source tool in lower case.
func (v *validator) tool() string {
	if v.header == nil {
		return ""
	}
	return strings.ToLower(v.header.SourceTool)
}

func (v *validator) checkStackID(s *Stack) {
	c := s.Context
	if s.ID.IsZero() {
		return
	}
	info := stackInfo{frames: 1, content: 1, event: v.hash(c.Event)}
	for _, id := range s.Frames {
		info.frames = mix(info.frames, uint64(id))
	}
	for _, f := range v.path {
		info.content = mix(info.content, f.identity)
	}
	k := v.key(s.ID)
	if len(v.wantStack) > 0 {
		for rule := range stackRules {
			delete(v.wantStack, stackRef{k, rule})
		}
	}
	context := mix(mix(mix(mix(mix(mix(k.v, uint64(k.form)), info.event), optHash(c.PID)), optHash(c.TID)), v.hash(c.Comm)), 0)
	old, again := v.stacks[k]
	if !again {
		v.stacks[k] = info
		v.idContext[context] = struct{}{}
		return
	}
	mode := ""
	if v.header != nil {
		mode = v.header.StackIDMode
	}
	id := s.ID.quoted()
	switch {
	case mode == Local:
		v.add("stack-id-unique", "the local stack id %s was used before", id)
	case mode == ContentAddressable && old.frames != info.frames && old.content != info.content:
		v.add("stack-id-content", "stack id %s was used before with other frames, so it is not a hash of the frames", id)
	}
	if old.event != info.event {
		v.add("stack-id-events", "stack id %s was used before for another event", id)
	}
	if _, ok := v.idContext[context]; ok {
		v.add("stack-id-ambiguous", "stack id %s was used before with the same event, process, thread and comm", id)
	}
	v.idContext[context] = struct{}{}
}

// mix folds x into the hash h (the finalizer of SplitMix64).
func mix(h, x uint64) uint64 {
	h = h*0x9e3779b97f4a7c15 + x + 1
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

func optHash(o Opt[int64]) uint64 {
	if !o.OK {
		return 0x5bd1e995
	}
	return mix(1, uint64(o.V))
}

func (v *validator) checkExclusive(s *Stack) {
	e := s.Exclusive
	v.checkWeightObjects(e.Weights)
	if n := len(s.Frames); v.parser.LacksIn("exclusive", "frame") {
	} else if n > 0 {
		leaf, root := s.Frames[0], s.Frames[n-1]
		if v.rootToLeaf() {
			leaf, root = root, leaf
		}
		switch e.Frame {
		case leaf:
		case root:
			v.add("frame-order-match", "exclusive.frame %d is at the root end of the stack: the frames are not %s", e.Frame, v.orderName())
		default:
			v.add("exclusive-leaf", "exclusive.frame is %d, but the leaf of the stack is frame %d", e.Frame, leaf)
		}
	} else {
		v.add("exclusive-leaf", "exclusive.frame is %d, but the stack has no frames", e.Frame)
	}
	v.checkExclusiveWeights(e.Weights, s.Weights)
}

func (v *validator) checkExclusiveWeights(leaf, stack []Weight) {
	ofLeaf, ofStack := weightFinder(leaf), weightFinder(stack)
	for i := range leaf {
		w := &leaf[i]
		total := ofStack(w.Metric)
		if total == nil {
			v.add("exclusive-metrics", "exclusive has the metric %q, but the stack does not", w.Metric)
		} else if !w.Value.IsZero() && !total.Value.IsZero() && compareNumbers(w.Value, total.Value) > 0 {
			v.add("exclusive-value", "exclusive %q is %s, more than the stack's %s", w.Metric, w.Value, total.Value)
		}
	}
	for i := range stack {
		if w := &stack[i]; ofLeaf(w.Metric) == nil {
			v.add("exclusive-metrics", "exclusive lacks the stack's metric %q", w.Metric)
		}
	}
}

func (v *validator) orderName() string {
	if v.header == nil {
		return LeafToRoot
	}
	return v.header.FrameOrder
}

// weightFinder returns a function that returns the first weight of a metric. A damaged or
// hostile file may have very many weights, so those are indexed.
func weightFinder(ws []Weight) func(metric string) *Weight {
	if len(ws) <= 16 {
		return func(metric string) *Weight { return findWeight(ws, metric) }
	}
	first := make(map[string]*Weight, len(ws))
	for i := range ws {
		if _, ok := first[ws[i].Metric]; !ok {
			first[ws[i].Metric] = &ws[i]
		}
	}
	return func(metric string) *Weight { return first[metric] }
}

func findWeight(ws []Weight, metric string) *Weight {
	for i := range ws {
		if ws[i].Metric == metric {
			return &ws[i]
		}
	}
	return nil
}
