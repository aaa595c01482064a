package synth

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
)

const (
	maxDepth     = 28     // maximum depth of a call path, in calls
	defaultPaths = 60_000 // distinct call paths of a program
	rootAgain    = 224    // call.again of a root
)

// A program is the invented program of all recordings: some thousands of functions in a
// dozen modules, the tree of its possible call paths, and its threads, each of which works
// in a part of the tree.
type program struct {
	funcs   []function
	calls   []call
	kids    []uint32 // children of all calls, consecutively
	threads []threadInfo
	spread  *[spreadSize]int64
	wander  *wander // nil for a program that keeps to its call paths
}

type function struct {
	name   string
	file   string
	line   int
	module int
	cost   int64 // median time in the function itself between two events, in ns
}

// A call is a node of the tree of call paths; it stands for the whole path from the root.
type call struct {
	fn         uint32
	parent     int32 // -1 for a root
	kids, nkid uint32
	depth      uint8
	again      uint8 // the chance of another call to a child, in 1/256
	site       uint8 // index of its address in the function, for recordings by address
	inlined    bool  // inlined into its parent
	role       uint8
}

// A role describes a kind of thread.
type role struct {
	name    string
	process int
	module  int      // module of its roots
	roots   []string // top-level functions, called in a loop
	idle    int64    // median time between two roots, in ns
	share   int      // share of the call paths
}

var processes = []struct {
	name string
	pid  int
}{{"shopd", 4242}, {"stored", 5310}}

var roles = []role{
	{"main", 0, modShop, []string{"main.(*Server).tick", "main.reloadConfig"}, 400_000, 2},
	{"http", 0, modShop, []string{"main.handleCheckout", "main.handleSearch", "main.handleBasket", "main.handleImage", "main.handleLogin", "main.handleStatic"}, 30_000, 12},
	{"gc", 0, modShop, []string{"main.gcMarkWorker", "main.gcSweepWorker"}, 250_000, 1},
	{"render", 0, modDraw, []string{"draw::Scene::render(draw::Target&)", "draw::Atlas::rebuild()"}, 120_000, 4},
	{"mail", 0, modShop, []string{"main.(*Outbox).sendAll", "main.(*Outbox).expire"}, 500_000, 2},
	{"query", 1, modQuery, []string{"query::exec::Session::run(query::Statement const&)", "query::plan::Planner::plan(query::Tree&)", "query::exec::Session::commit()"}, 40_000, 9},
	{"compact", 1, modStorage, []string{"storage::lsm::Compactor::step()", "storage::lsm::Compactor::choose()"}, 90_000, 4},
	{"flush", 1, modStorage, []string{"storage::wal::Writer::flush()", "storage::cache::Pool::evict()"}, 60_000, 3},
}

// order lists the roles of successive threads; it repeats.
var order = []int{0, 1, 5, 1, 6, 2, 1, 5, 7, 3, 1, 4}

// A threadInfo names a thread of the program.
type threadInfo struct {
	pid, tid int
	name     string
	role     int
}

// newProgram invents a program with the given number of threads and at least the given
// number of call paths. The same arguments give the same program; the caller may change
// its threads.
func newProgram(seed uint64, threads, paths int) *program {
	latest.Lock()
	defer latest.Unlock()
	if is := (programKey{seed, threads, paths}); latest.of == nil || latest.key != is {
		latest.key, latest.of = is, makeProgram(seed, threads, paths)
	}
	p := *latest.of
	p.threads = slices.Clone(p.threads)
	return &p
}

// latest caches the last program, because the next recording mostly uses it too, and
// inventing a program takes longer than writing a few thousand records.
var latest struct {
	sync.Mutex
	key programKey
	of  *program
}

type programKey struct {
	seed           uint64
	threads, paths int
}

func makeProgram(seed uint64, threads, paths int) *program {
	p := &program{spread: newSpread(seed)}
	starts := p.makeFunctions(rand.NewPCG(seed, streamNames))
	p.makeThreads(threads)
	p.makeTree(rand.NewPCG(seed, streamTree), starts, paths)
	return p
}

// makeFunctions fills the function table, module by module, and returns the index of the
// first function of each module; the last entry is the number of functions.
func (p *program) makeFunctions(rng *rand.PCG) (starts [moduleCount + 1]int) {
	seen := make(map[string]bool)
	add := func(m int, name, file string) {
		seen[name] = true
		r := rng.Uint64()
		f := function{name: name, file: file, line: 10 + below(r, 900), module: m}
		f.cost = 150 * p.spread[r>>32%spreadSize] >> 8
		if modules[m].kernel {
			f.cost *= 2
		}
		f.cost = max(f.cost, 20)
		p.funcs = append(p.funcs, f)
	}
	for m := range modules {
		starts[m] = len(p.funcs)
		for _, r := range roles {
			if r.module == m {
				for _, root := range r.roots {
					add(m, root, "src/main")
				}
			}
		}
		for range modules[m].funcs {
			name, file := modules[m].function(rng)
			for seen[name] {
				name, file = modules[m].function(rng)
			}
			add(m, name, file)
		}
	}
	starts[moduleCount] = len(p.funcs)
	return starts
}

func (p *program) makeThreads(n int) {
	number := make([]int, len(roles))
	for i := range n {
		role := order[i%len(order)]
		number[role]++
		t := threadInfo{pid: processes[roles[role].process].pid, role: role, name: roles[role].name}
		t.tid = t.pid
		if i > 0 {
			t.name += "-" + strconv.Itoa(number[role])
			t.tid += i
		}
		p.threads = append(p.threads, t)
	}
}

// makeTree grows the call paths of every role.
func (p *program) makeTree(rng *rand.PCG, starts [moduleCount + 1]int, paths int) {
	shares := 0
	for _, r := range roles {
		shares += r.share
	}
	byName := make(map[string]uint32, len(p.funcs))
	for i, f := range p.funcs {
		byName[f.name] = uint32(i)
	}
	var kids [][]uint32
	for i, r := range roles {
		first := len(p.calls)
		for _, name := range r.roots {
			p.calls = append(p.calls, call{fn: byName[name], parent: -1, role: uint8(i), again: rootAgain})
			kids = append(kids, nil)
		}
		kids = p.growTree(rng, starts, kids, first, first+(paths*r.share+shares-1)/shares)
	}
	for i, k := range kids {
		p.calls[i].kids, p.calls[i].nkid = uint32(len(p.kids)), uint32(len(k))
		p.kids = append(p.kids, k...)
	}
}

// growTree adds calls, below the calls from first on, until the program has want calls.
// It adds them below the last call, which makes the tree deep, or below any call, which
// makes it wide. It updates kids, the children of each call. No two children of a call
// have the same function.
func (p *program) growTree(rng *rand.PCG, starts [moduleCount + 1]int, kids [][]uint32, first, want int) [][]uint32 {
	last := uint32(first)
	for len(p.calls) < want {
		r := rng.Uint64()
		parent := last
		if r&0xff < 120 || p.calls[last].depth >= maxDepth-1 {
			parent = uint32(first + below(r>>8, len(p.calls)-first))
			if p.calls[parent].depth >= maxDepth-1 {
				continue
			}
		}
		fn := p.callee(rng, starts, parent)
		if slices.ContainsFunc(kids[parent], func(k uint32) bool { return p.calls[k].fn == fn }) {
			last = parent
			continue
		}
		last = uint32(len(p.calls))
		p.calls = append(p.calls, p.newCall(rng.Uint64(), fn, parent))
		kids = append(kids, nil)
		kids[parent] = append(kids[parent], last)
	}
	return kids
}

func (p *program) newCall(r uint64, fn, parent uint32) call {
	up := &p.calls[parent]
	c := call{fn: fn, parent: int32(parent), depth: up.depth + 1, role: up.role}
	c.site = uint8(r & 3)
	c.again = uint8(96 + r>>8%84)
	f, g := &p.funcs[fn], &p.funcs[up.fn]
	c.inlined = f.module == g.module && modules[f.module].lang == inCPP && r>>16&7 == 0
	return c
}

// callee chooses the function that a call calls: mostly one of its own module, sometimes
// one of another module that its module calls, and occasionally the function itself.
func (p *program) callee(rng *rand.PCG, starts [moduleCount + 1]int, parent uint32) uint32 {
	r := rng.Uint64()
	fn := p.calls[parent].fn
	if r&0xff < 6 {
		return fn
	}
	m := p.funcs[fn].module
	if calls := modules[m].calls; r>>8&0xff < 48 && len(calls) > 0 {
		m = calls[below(r>>16, len(calls))]
	}
	return uint32(starts[m] + pick(rng.Uint64(), starts[m+1]-starts[m]))
}

func (p *program) roots(role int) []uint32 {
	var ids []uint32
	for i := range p.calls {
		if c := &p.calls[i]; c.parent < 0 && int(c.role) == role {
			ids = append(ids, uint32(i))
		}
	}
	return ids
}

// path appends the calls from leaf up to its root.
func (p *program) path(buf []uint32, leaf uint32) []uint32 {
	if p.wander != nil {
		return p.wander.stack(buf, leaf)
	}
	for at := int32(leaf); at >= 0; at = p.calls[at].parent {
		buf = append(buf, uint32(at))
	}
	return buf
}

func (p *program) name(c uint32) string { return p.funcs[p.calls[c].fn].name }

// srcline returns the source position of a call's function, as file:line.
func (p *program) srcline(f *function, site uint8) string {
	return fmt.Sprintf("%s:%d", f.file, f.line+int(site)*7)
}
