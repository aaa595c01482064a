package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	rtrace "runtime/trace"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/exp/trace"

	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/input/source"
	"ashlar/testdata/samples"
)

// The tests compare all events with those of the Go team's own reader: time, kind,
// goroutine, processor, stacks, names and values.

// line holds the compared parts of an event.
type line struct {
	time       int64
	kind       string
	g, p       int64
	stack      string
	what       string
	otherStack string
}

func framesOf(s trace.Stack) string {
	var b strings.Builder
	for f := range s.Frames() {
		fmt.Fprintf(&b, "%s@%x:%s:%d;", f.Func, f.PC, f.File, f.Line)
	}
	return b.String()
}

// expected reads a trace with the Go team's reader, up to the end or an error.
func expected(content []byte) (all []line, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	r, err := trace.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	known := map[trace.Stack]string{}
	stack := func(s trace.Stack) string {
		t, ok := known[s]
		if !ok && s != trace.NoStack {
			t = framesOf(s)
			known[s] = t
		}
		return t
	}
	for {
		ev, err := r.ReadEvent()
		if err != nil {
			return all, err
		}
		l := line{time: int64(ev.Time()), kind: ev.Kind().String(), g: int64(ev.Goroutine()), p: int64(ev.Proc()), stack: stack(ev.Stack())}
		switch ev.Kind() {
		case trace.EventSync:
			clear(known)
			if c := ev.Sync().ClockSnapshot; c != nil {
				l.what = fmt.Sprint(c.Wall.UnixNano(), int64(c.Trace))
			}
		case trace.EventMetric:
			m := ev.Metric()
			l.what = fmt.Sprint(m.Name, m.Value.Uint64())
		case trace.EventLabel:
			l.what = ev.Label().Label
		case trace.EventRangeBegin, trace.EventRangeActive, trace.EventRangeEnd:
			l.what = ev.Range().Name
			switch s := ev.Range().Scope; s.Kind {
			case trace.ResourceGoroutine:
				l.what += fmt.Sprint(" G", s.Goroutine())
			case trace.ResourceProc:
				l.p = int64(s.Proc())
			}
		case trace.EventTaskBegin, trace.EventTaskEnd:
			t := ev.Task()
			l.what = fmt.Sprint(t.ID, t.Parent, t.Type)
		case trace.EventRegionBegin, trace.EventRegionEnd:
			r := ev.Region()
			l.what = fmt.Sprint(r.Task, r.Type)
		case trace.EventLog:
			x := ev.Log()
			l.what = fmt.Sprint(x.Task, x.Category, ":", x.Message)
		case trace.EventStateTransition:
			st := ev.StateTransition()
			if st.Resource.Kind != trace.ResourceGoroutine {
				l.kind = "Processor"
				break
			}
			from, to := st.Goroutine()
			l.what = fmt.Sprint("G", st.Resource.Goroutine(), " ", from.String()+">"+to.String()+":"+st.Reason)
			l.otherStack = stack(st.Stack)
		}
		all = append(all, l)
	}
}

var kindNames = map[Kind]string{Sync: "Sync", Transition: "StateTransition", Processor: "Processor", Metric: "Metric", Label: "Label", Sample: "StackSample",
	RangeBegin: "RangeBegin", RangeActive: "RangeActive", RangeEnd: "RangeEnd", TaskBegin: "TaskBegin", TaskEnd: "TaskEnd",
	RegionBegin: "RegionBegin", RegionEnd: "RegionEnd", Log: "Log", Experimental: "Experimental"}

var whatNames = map[uint8]string{MarkPhase: "GC concurrent mark phase", Sweep: "GC incremental sweep", MarkAssist: "GC mark assist",
	MaxProcs: "/sched/gomaxprocs:threads", HeapLive: "/memory/classes/heap/objects:bytes", HeapGoal: "/gc/heap/goal:bytes"}

var stateNames = map[State]string{Undetermined: "Undetermined", NotExist: "NotExist", Runnable: "Runnable", Running: "Running", Waiting: "Waiting", InSyscall: "Syscall"}

// each visits the events returned by this package's Reader.
func each(in *source.Input, version int, visit func(ev *Event)) error {
	r := NewReader(in, version)
	room := make([]Event, 0, 100)
	for {
		events, err := r.Read(room)
		for i := range events {
			visit(&events[i])
		}
		if err != nil {
			return err
		}
	}
}

func got(content []byte, version, chunk int) (all []line, err error) {
	in := source.FromBytes("x", content)
	in.ChunkSize = chunk
	var gen *Generation
	var known []string
	stack := func(i int32) string {
		if i != 0 && known[i] == "" {
			var b strings.Builder
			gen.EachFrame(i, func(f *Frame) {
				fmt.Fprintf(&b, "%s@%x:%s:%d;", gen.Text(f.Func), f.PC, gen.Text(f.File), f.Line)
			})
			known[i] = b.String()
		}
		return known[i]
	}
	err = each(in, version, func(ev *Event) {
		l := line{time: ev.Time, kind: kindNames[ev.Kind], g: None, p: ev.P}
		if ev.G != nil {
			l.g = ev.G.ID
		}
		if ev.Gen != nil {
			gen, known = ev.Gen, make([]string, ev.Gen.Stacks())
		}
		if ev.Stack != 0 {
			l.stack = stack(ev.Stack)
		}
		switch ev.Kind {
		case Sync:
			if ev.Gen != nil && ev.Gen.clock {
				l.what = fmt.Sprint(gen.Wall, gen.Snapshot)
			}
		case Metric:
			l.what = fmt.Sprint(whatNames[ev.What], ev.Value)
		case Label:
			l.what = gen.Text(ev.Text)
		case RangeBegin, RangeActive, RangeEnd:
			if l.what = whatNames[ev.What]; ev.What == StopTheWorld {
				l.what = "stop-the-world (" + gen.Text(ev.Text) + ")"
			}
			if ev.On != nil {
				l.what += fmt.Sprint(" G", ev.On.ID)
			}
		case TaskBegin, TaskEnd:
			l.what = fmt.Sprint(ev.Task.ID, ev.Task.Parent, ev.Task.Name)
		case RegionBegin, RegionEnd:
			l.what = fmt.Sprint(ev.Value, gen.Text(ev.Text))
		case Log:
			l.what = fmt.Sprint(ev.Value, gen.Text(ev.Text), ":", gen.Text(ev.More))
		case Transition:
			l.what = fmt.Sprint("G", ev.On.ID, " ", stateNames[ev.From]+">"+stateNames[ev.To]+":"+gen.Text(ev.Text))
			if ev.OnStack != 0 {
				l.otherStack = stack(ev.OnStack)
			}
		}
		all = append(all, l)
	})
	return all, err
}

// same compares the events of both readers. For a damaged trace this package may return a
// few more, which the other reader has read but drops. The other reader also stops at
// regions that cross.
func same(t *testing.T, name string, content []byte, version int, chunks ...int) (events int) {
	t.Helper()
	want, wantErr := expected(content)
	whole := wantErr == io.EOF // other errors wrap io.EOF
	for _, chunk := range chunks {
		have, err := got(content, version, chunk)
		// The other reader takes the end of the file inside some records for the end of the
		// trace.
		cut := whole && err != nil && (strings.HasSuffix(err.Error(), "is truncated") || strings.HasSuffix(err.Error(), "within a batch of events"))
		crossing := strings.HasPrefix(wantErr.Error(), "misuse of region")
		if errors.Is(err, io.EOF) != whole && !cut && !crossing {
			t.Errorf("%s in chunks of %d: %v, want %v", name, chunk, err, wantErr)
		}
		if len(have) < len(want) || len(have) > len(want)+Most && !crossing || whole && len(have) != len(want) {
			t.Errorf("%s in chunks of %d: %d events (%v), want %d (%v)", name, chunk, len(have), err, len(want), wantErr)
		}
		for i := range min(len(have), len(want)) {
			if have[i] != want[i] {
				t.Fatalf("%s in chunks of %d: event %d is\n%+v, want\n%+v", name, chunk, i, have[i], want[i])
			}
		}
	}
	return len(want)
}

// texts returns the test traces of the Go team's reader, from the local Go installation and
// the sample files.
func texts(t *testing.T) map[string][]byte {
	all := map[string][]byte{}
	files, err := filepath.Glob(filepath.Join(decodetest.GoRoot(t), "src", "internal", "trace", "testdata", "tests", "*.test"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, samples.Files(t, "gotrace/*.test")...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ = bytes.Cut(text, []byte("-- trace --\n"))
		all[filepath.Base(file)], _ = binaryOf(t, string(text))
	}
	return all
}

func TestTexts(t *testing.T) {
	all := texts(t)
	if len(all) == 0 {
		t.Skip("there is neither the source of Go nor a sample")
	}
	events := 0
	for name, content := range all {
		events += same(t, name, content, VersionOf(content), 0, 7, 4096)
	}
	if events < 1000 {
		t.Errorf("there are only %d events", events)
	}
}

// TestDamaged checks that both readers return the same events of a cut or damaged trace up
// to the damage.
func TestDamaged(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	all := texts(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		content := all[name]
		if len(content) > 10000 {
			continue
		}
		for n := header; n < len(content); n += 1 + len(content)/40 {
			same(t, fmt.Sprint(name, " cut at ", n), content[:n], VersionOf(content), 0)
		}
		for range 200 {
			changed := bytes.Clone(content)
			at := header + random.IntN(len(content)-header)
			changed[at] ^= 1 << random.IntN(8)
			if random.IntN(2) == 0 {
				changed[at] = byte(random.IntN(60))
			}
			same(t, fmt.Sprint(name, " changed at ", at), changed, VersionOf(content), 0, 11)
		}
	}
}

// made returns a trace of this process in several generations: goroutines that wait for
// each other and for the system, tasks, regions, logs, labels, coroutines and garbage
// collections.
func made(t testing.TB) []byte {
	var out bytes.Buffer
	if err := rtrace.Start(&out); err != nil {
		t.Fatal(err)
	}
	ctx, task := rtrace.NewTask(context.Background(), "order")
	c := make(chan int)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			pprof.Do(ctx, pprof.Labels("worker", fmt.Sprint(i)), func(ctx context.Context) {
				defer rtrace.StartRegion(ctx, "work").End()
				for n := range c {
					rtrace.Log(ctx, "n", fmt.Sprint(n))
					time.Sleep(time.Duration(n%3) * time.Millisecond)
					runtime.Gosched()
				}
			})
		})
	}
	next, stop := iter.Pull(func(yield func(int) bool) {
		for i := 0; i < 50 && yield(i); i++ {
		}
	})
	for n, ok := next(); ok; n, ok = next() {
		c <- n
	}
	stop()
	close(c)
	all.Wait()
	garbage := make([][]byte, 100)
	for began := time.Now(); time.Since(began) < 1200*time.Millisecond; { // a generation takes about a second
		for i := range garbage {
			garbage[i] = make([]byte, 10000)
		}
		time.Sleep(time.Millisecond) // a few garbage collections are enough
	}
	runtime.GC()
	task.End()
	rtrace.Stop()
	return out.Bytes()
}

func TestMade(t *testing.T) {
	content := made(t)
	if n := same(t, "made", content, VersionOf(content), 0, 1000); n < 1000 {
		t.Errorf("there are only %d events", n)
	}
	for n := header; n < len(content); n += 1 + len(content)/4 {
		same(t, fmt.Sprint("cut at ", n), content[:n], VersionOf(content), 0)
	}
}
