// Package analyzetest_test tests package analyze on whole files. In that package's own
// folder, these tests would compile every decoder a second time.
package analyzetest_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/exp/trace"
	"google.golang.org/protobuf/encoding/protowire"

	"ashlar/ingest"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/testdata/samples"
)

// states returns the index of the event of thread states; false if there is none.
func states(r *recording.Recording) (int, bool) {
	for e := range r.Events {
		if r.Events[e].Basis == recording.FromStates {
			return e, true
		}
	}
	return 0, false
}

// sumsOfStates checks that the times in thread states add up in every kind of query. It
// returns, by thread id, how long each thread existed, in picoseconds: the total of its
// wall-clock flamegraph.
func sumsOfStates(t *testing.T, r *recording.Recording) map[int64]int64 {
	t.Helper()
	event, ok := states(r)
	if !ok {
		return nil
	}
	wall := map[int64]int64{}
	var all [recording.StateSyscall + 1]int64
	// Query each thread separately only if there are few: Go traces may have very many
	// goroutines.
	each := len(r.Tracks) < 100
	for i, tr := range r.Tracks {
		var own [recording.StateSyscall + 1]int64
		last := int64(-1 << 62)
		for l, k := &tr.States, 0; k < l.Len(); k++ {
			if l.Start(k) < last || l.End(k) <= l.Start(k) {
				t.Errorf("%s: a state from %d to %d stands behind one to %d", tr.Title(), l.Start(k), l.End(k), last)
			}
			last = l.End(k)
			for m := range own {
				if r.State(l.Call(k)).Weighs(m) {
					own[m] += l.End(k) - l.Start(k)
				}
			}
		}
		if parts := own[1] + own[2] + own[3] + own[4]; parts != own[recording.StateWall] {
			t.Errorf("%s: the states add up to %d of %d ps", tr.Title(), parts, own[recording.StateWall])
		}
		for m := range own {
			if all[m] += own[m]; !each || tr.States.Len() == 0 {
				continue
			}
			w, err := analyze.Weigh(context.Background(), r, analyze.Query{Event: event, Metric: m, Scope: recording.Scope{Tracks: []int{i}}})
			if err != nil || w.Sum != own[m] {
				t.Errorf("%s: the flamegraph of %s has %d ps, its states %d (%v)", tr.Title(), r.Events[event].Metrics[m].Name, w.Sum, own[m], err)
			}
		}
		if own[recording.StateWall] > 0 {
			wall[tr.TID] += own[recording.StateWall]
		}
	}
	for m, want := range all {
		w, err := analyze.Weigh(context.Background(), r, analyze.Query{Event: event, Metric: m})
		if err != nil {
			t.Fatal(err)
		}
		sum := int64(0)
		for _, v := range w.Self {
			sum += v
		}
		root := analyze.NewTree(r, w).Nodes[0].Total
		if total := r.Events[event].Metrics[m].Total; w.Sum != want || sum != want || total != want || root != want {
			t.Errorf("%s: the flamegraph has %d ps, its calls %d, its root %d, the recording says %d; the states take %d", r.Events[event].Metrics[m].Name, w.Sum, sum, root, total, want)
		}
	}
	return wall
}

// sameWall compares how long threads existed, in picoseconds, with a naive reader's result,
// in nanoseconds.
func sameWall(t *testing.T, got, want map[int64]int64) {
	t.Helper()
	for id, ns := range want {
		if got[id] != ns*1000 {
			t.Errorf("%d: %d ps, want %d ns", id, got[id], ns)
		}
	}
	for id, ps := range got {
		if want[id] == 0 {
			t.Errorf("%d: %d ps, want none", id, ps)
		}
	}
}

// goroutines reads a Go trace with Go's own reader. It returns how long each goroutine
// existed, in nanoseconds, from its creation or first mention to its end.
func goroutines(t *testing.T, content []byte) map[int64]int64 {
	t.Helper()
	read, err := trace.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	born, wall := map[int64]trace.Time{}, map[int64]int64{}
	var sync, last trace.Time
	for {
		ev, err := read.ReadEvent()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch last = ev.Time(); ev.Kind() {
		case trace.EventSync:
			sync = ev.Time()
		case trace.EventStateTransition:
			st := ev.StateTransition()
			if st.Resource.Kind != trace.ResourceGoroutine {
				continue
			}
			id := int64(st.Resource.Goroutine())
			switch from, to := st.Goroutine(); {
			case to == trace.GoNotExist:
				wall[id] += int64(ev.Time() - born[id])
				delete(born, id)
			case from == trace.GoUndetermined:
				born[id] = sync
			case from == trace.GoNotExist:
				born[id] = ev.Time()
			}
		}
	}
	for id, at := range born {
		wall[id] += int64(last - at)
	}
	for id, ns := range wall {
		if ns == 0 {
			delete(wall, id)
		}
	}
	return wall
}

// TestWallOfSamples checks the sums for all samples with thread states, and compares Go
// traces with Go's own reader.
func TestWallOfSamples(t *testing.T) {
	samples.Need(t)
	with, traces := 0, 0
	for name, content := range samples.Each(t) {
		if strings.HasPrefix(name, "spall/") {
			continue // Spall has no thread states
		}
		r, _, err := ingest.ReadAll(context.Background(), samples.Path(t, name), ingest.Options{})
		if err != nil {
			continue // other tests check which samples can be opened
		}
		wall := sumsOfStates(t, r)
		if len(wall) == 0 {
			continue
		}
		with++
		if bytes.HasPrefix(content, []byte("go 1.")) {
			traces++
			sameWall(t, wall, goroutines(t, content))
		}
	}
	if with < 3 || traces == 0 {
		t.Errorf("%d samples have states, %d of them of Go", with, traces)
	}
}

// moment is an event of a simulated machine: a processor switches from thread prev to next
// or, if woken is set, a thread is woken.
type moment struct {
	at              int64 // µs
	cpu, prev, next int64
	state           int64 // 0 runnable, 1 sleeping, 16 dead
	woken, by       int64
}

// machine simulates a scheduler with two processors and some threads.
func machine(seed uint64) (all []moment) {
	rng := rand.New(rand.NewPCG(seed, 1))
	const dead, sleeps, ready, runs = 0, 1, 2, 3
	in := map[int64]int{}
	for id := range int64(9) {
		in[101+id] = sleeps
	}
	cpus, at := [2]int64{}, int64(5_000_000)
	for range 400 {
		at += 1 + rng.Int64N(900)
		id := 101 + rng.Int64N(9)
		switch cpu := rng.Int64N(2); {
		case in[id] == sleeps:
			in[id] = ready
			all = append(all, moment{at: at, cpu: cpu, woken: id, by: cpus[cpu]})
		case in[id] == ready || cpus[cpu] != 0:
			next, prev, state := int64(0), cpus[cpu], int64(0)
			if in[id] == ready {
				next = id
				in[id] = runs
			}
			if prev != 0 {
				if state = []int64{0, 1, 1, 16}[rng.IntN(4)]; rng.IntN(20) > 0 && state == 16 {
					state = 1
				}
				in[prev] = map[int64]int{0: ready, 1: sleeps, 16: dead}[state]
			}
			cpus[cpu] = next
			all = append(all, moment{at: at, cpu: cpu, prev: prev, next: next, state: state})
		}
	}
	return all
}

// wallOf returns how long each thread of a machine existed, in nanoseconds.
func wallOf(all []moment) map[int64]int64 {
	since, wall := map[int64]int64{}, map[int64]int64{}
	known := func(id, at int64) {
		if _, ok := since[id]; !ok && id != 0 {
			since[id] = at
		}
	}
	for _, m := range all {
		known(m.woken, m.at)
		if m.prev != 0 && m.state == 16 {
			wall[m.prev] += m.at - since[m.prev]
			delete(since, m.prev)
		}
		known(m.next, m.at)
	}
	for id, at := range since {
		wall[id] += all[len(all)-1].at - at
	}
	for id, us := range wall {
		if wall[id] = us * 1000; us == 0 {
			delete(wall, id)
		}
	}
	return wall
}

// asFtrace formats a machine's events as ftrace text.
func asFtrace(all []moment) []byte {
	var b bytes.Buffer
	b.WriteString("# tracer: nop\n#\n")
	name := func(id int64) string {
		if id == 0 {
			return "swapper"
		}
		return fmt.Sprint("t", id)
	}
	for _, m := range all {
		who := m.prev + m.by
		fmt.Fprintf(&b, "%16s-%-7d [%03d] d..2. %d.%06d: ", name(who), who, m.cpu, m.at/1e6, m.at%1e6)
		if m.woken != 0 {
			fmt.Fprintf(&b, "sched_waking: comm=%s pid=%d prio=120 target_cpu=%03d\n", name(m.woken), m.woken, m.cpu)
			continue
		}
		fmt.Fprintf(&b, "sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=%s next_pid=%d next_prio=120\n",
			name(m.prev), m.prev, map[int64]string{0: "R", 1: "S", 16: "X"}[m.state], name(m.next), m.next)
	}
	return b.Bytes()
}

// asPerfetto writes a machine's events as ftrace events of a Perfetto trace.
func asPerfetto(all []moment) (file []byte) {
	number := func(b []byte, field protowire.Number, v int64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(v))
	}
	message := func(b []byte, field protowire.Number, v []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
	}
	for _, m := range all {
		e := number(number(nil, 1, m.at*1000), 2, m.prev+m.by)
		if m.woken != 0 {
			e = message(e, 20, number(message(nil, 1, []byte("t")), 2, m.woken))
		} else {
			e = message(e, 4, number(number(number(nil, 2, m.prev), 4, m.state), 6, m.next))
		}
		file = message(file, 1, number(message(nil, 1, message(number(nil, 1, m.cpu), 2, e)), 10, 1))
	}
	return file
}

var ftraceLine = regexp.MustCompile(` (\d+)\.(\d{6}): sched_(?:waking: .*\bpid=(\d+) |switch: .*prev_pid=(\d+) .*prev_state=(\w) .*next_pid=(\d+) )`)

// fromFtrace reads the output of asFtrace.
func fromFtrace(t *testing.T, content []byte) (all []moment) {
	lines := bufio.NewScanner(bytes.NewReader(content))
	for lines.Scan() {
		m := ftraceLine.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		n := func(i int) int64 {
			v, _ := strconv.ParseInt(m[i], 10, 64)
			return v
		}
		x := moment{at: n(1)*1e6 + n(2), woken: n(3), prev: n(4), next: n(6)}
		if m[5] == "X" {
			x.state = 16
		}
		all = append(all, x)
	}
	if len(all) < 100 {
		t.Fatalf("%d events were written", len(all))
	}
	return all
}

// TestWallOfSchedulers checks the sums for simulated scheduler traces, as ftrace
// text and in Perfetto traces, and compares the time of each thread with a naive reader.
func TestWallOfSchedulers(t *testing.T) {
	dir := t.TempDir()
	for seed := range uint64(20) {
		all := machine(seed)
		for name, content := range map[string][]byte{"x.ftrace": asFtrace(all), "x.pftrace": asPerfetto(all)} {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			r, _, err := ingest.ReadAll(context.Background(), path, ingest.Options{})
			if err != nil {
				t.Fatal(name, err)
			}
			if name == "x.ftrace" {
				all = fromFtrace(t, content)
			}
			sameWall(t, sumsOfStates(t, r), wallOf(all))
			if t.Failed() {
				t.Fatalf("%s of seed %d", name, seed)
			}
		}
	}
}
