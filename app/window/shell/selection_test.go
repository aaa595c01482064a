package shell

import (
	"fmt"
	"strings"
	"testing"

	"gioui.org/f32"
	"gioui.org/io/key"

	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/timeline"
)

// twoProcesses is a trace of a process with only an instant, followed by a process with
// two threads.
const twoProcesses = `[{"ph":"M","pid":1,"name":"process_name","args":{"name":"clock"}},{"ph":"i","s":"t","pid":1,"tid":1,"ts":5,"name":"tick"},
{"ph":"M","pid":2,"name":"process_name","args":{"name":"server"}},
{"ph":"M","pid":2,"tid":7,"name":"thread_name","args":{"name":"net"}},{"ph":"M","pid":2,"tid":8,"name":"thread_name","args":{"name":"disk"}},
{"ph":"X","pid":2,"tid":7,"ts":1,"dur":90,"name":"serve"},{"ph":"X","pid":2,"tid":8,"ts":1,"dur":40,"name":"serve"}]`

// rows returns the names of the rows of a kind.
func (b *bench) rows(kind timeline.RowKind) []string {
	b.frame()
	return b.Pane.Plan.Names(kind)
}

func TestProcessesOfMomentsComeLast(t *testing.T) {
	b := newBench(t, twoProcesses)
	if got := strings.Join(b.rows(timeline.ProcessRow), ","); got != "server,clock" {
		t.Errorf("processes are in the order %s", got)
	}
}

// TestThreadsThatAreFiltered checks that a word after ! excludes threads and that the
// plan counts the threads left out.
func TestThreadsThatAreFiltered(t *testing.T) {
	b := newBench(t, twoProcesses)
	for filter, want := range map[string]string{"": "net,disk,Thread 1", "!disk": "net,Thread 1", "server !7": "disk", "nothing !disk": ""} {
		b.Pane.Filter = filter
		if got := strings.Join(b.rows(timeline.TrackRow), ","); got != want {
			t.Errorf("%q leaves %s, want %s", filter, got, want)
		}
		if unseen := 2 - strings.Count(want, "net") - strings.Count(want, "disk") + 1 - strings.Count(want, "Thread"); b.Pane.Plan.Unseen != unseen {
			t.Errorf("%q: %d threads are said to be unseen, %d are", filter, b.Pane.Plan.Unseen, unseen)
		}
	}
}

// TestControlClickOnAProcess checks that Ctrl click on a process selects its threads, and
// a second click deselects them.
func TestControlClickOnAProcess(t *testing.T) {
	b := newBench(t, twoProcesses)
	p := b.Pane
	click := func() {
		b.settled()
		at := f32.Pt(float32(p.Bounds.Lanes.Min.X+60), float32(p.Bounds.Lanes.Min.Y+p.Plan.Rows[0].Y-p.View.Scroll+5))
		b.drag(at, at, key.ModCtrl)
	}
	click()
	if got := len(p.Scope.Tracks); got != 2 {
		t.Fatalf("a click selects %d threads: %+v", got, p.Scope)
	}
	click()
	if p.Scope.Tracks != nil {
		t.Errorf("another click leaves %v selected", p.Scope.Tracks)
	}
}

// TestEscapeTakesOneThing checks that Esc removes the last chip of the scope bar first,
// then the filter.
func TestEscapeTakesOneThing(t *testing.T) {
	b := newBench(t, twoProcesses)
	p := b.Pane
	p.Scope = recording.Between(p.Rec.Start, p.Rec.Start+10e6).On([]int{1})
	p.Filter = "server"
	for i, left := range []func() bool{
		func() bool { return p.Scope.Ranged && p.Scope.Tracks == nil && p.Filter != "" },
		func() bool { return p.Scope.IsWhole() && p.Filter != "" },
		func() bool { return p.Filter == "" },
	} {
		if b.press(key.NameEscape, 0); !left() {
			t.Fatalf("after %d times: %+v, filter %q", i+1, p.Scope, p.Filter)
		}
	}
}

// TestKeysAfterTheSearch checks that letters are commands again after a hit was chosen.
func TestKeysAfterTheSearch(t *testing.T) {
	b := newBench(t, someTrace)
	b.press("/", 0)
	b.lookFor("read")
	b.press(key.NameReturn, 0)
	first := b.Pane.Pick.Hit.Start
	b.press("N", 0)
	if b.Pane.Find != "read" || b.Pane.Pick.Hit.Start == first {
		t.Errorf("N leaves %q in the search and goes from %d to %d", b.Pane.Find, first, b.Pane.Pick.Hit.Start)
	}
}

// TestBorderStays checks that the border between the halves does not move when threads
// with less deep stacks are selected.
func TestBorderStays(t *testing.T) {
	var lines []string
	for i := range 30 {
		lines = append(lines, fmt.Sprintf(`{"ph":"X","pid":1,"tid":%d,"ts":%d,"dur":%d,"name":"f%d"}`, 1+i%9, 10+i, 900-2*i, i),
			fmt.Sprintf(`{"ph":"X","pid":1,"tid":99,"ts":%d,"dur":%d,"name":"g%d"}`, 10+i, 900-2*i, i))
	}
	b := newBench(t, "["+strings.Join(lines, ",")+"]")
	b.settled()
	p := b.Pane
	before := p.Bounds.Tabs
	for i := range p.Rec.Tracks[:3] {
		p.Scope.Tracks = []int{i}
		b.settled()
		if p.Bounds.Tabs != before {
			t.Fatalf("with thread %d selected the border moves from %v to %v", i, before, p.Bounds.Tabs)
		}
	}
}

// TestFoldedRowsKeepTheirIDs checks that folded rows of threads with the same long name
// show the thread ids.
func TestFoldedRowsKeepTheirIDs(t *testing.T) {
	var lines []string
	for tid := 31; tid < 34; tid++ {
		lines = append(lines, fmt.Sprintf(`{"ph":"M","pid":1,"tid":%d,"name":"thread_name","args":{"name":"ThreadPoolForegroundWorker of the pool"}}`, tid))
		for i := range 4 {
			lines = append(lines, fmt.Sprintf(`{"ph":"X","pid":1,"tid":%d,"ts":%d,"dur":%d,"name":"f%d"}`, tid, 10+i, 900-2*i, i))
		}
	}
	b := newBench(t, "["+strings.Join(lines, ",")+"]")
	b.Pane.Folds = map[int]timeline.Fold{0: timeline.Closed, 1: timeline.Closed, 2: timeline.Closed}
	b.frame()
	all := b.shapes()
	for tid := 31; tid < 34; tid++ {
		if !strings.Contains(all, fmt.Sprintf(">%d<", tid)) {
			t.Errorf("the row of thread %d does not say which it is", tid)
		}
	}
}

// TestThreadsAreCounted checks that the table of threads shows the number of all threads,
// and their processes.
func TestThreadsAreCounted(t *testing.T) {
	b := newBench(t, twoProcesses)
	b.Pane.Tab, b.Pane.Table.Group = panel.Functions, analyze.ByThread
	b.settled()
	b.settled()
	all := b.shapes()
	for _, want := range []string{"2 of 3", "Process", "server"} {
		if !strings.Contains(all, ">"+want+"<") {
			t.Errorf("%q is nowhere in the window", want)
		}
	}
}

// TestHiddenThreadsAreSaid checks that hidden and filtered threads still count, and that
// the window says so.
func TestHiddenThreadsAreSaid(t *testing.T) {
	b := newBench(t, twoProcesses)
	total := b.total()
	b.Pane.Hidden = map[int]bool{1: true}
	b.settled()
	if !strings.Contains(b.shapes(), "includes 1 hidden thread") || b.total() != total {
		t.Errorf("a hidden thread is not spoken of, or the total goes from %s to %s", total, b.total())
	}
	b.Pane.Hidden, b.Pane.Filter = map[int]bool{}, "no such thread"
	b.settled()
	if !strings.Contains(b.shapes(), "includes 3 hidden threads") || b.total() != total {
		t.Errorf("threads that are left out are not spoken of, or the total goes from %s to %s", total, b.total())
	}
}
