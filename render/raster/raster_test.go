package raster

import (
	"image/color"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"ashlar/ingest/model/funcname"
)

func TestFitNeverSpills(t *testing.T) {
	f := Regular(11.5)
	for _, name := range []string{"net/http.(*conn).serve", "memmove", strings.Repeat("长い名前", 50), "שלום עולם", "x"} {
		for w := float32(0); w < 300; w += 3 {
			got := f.Fit(name, w)
			if m := f.Measure(got); m > w {
				t.Fatalf("Fit(%q, %v) = %q, %v wide", name, w, got, m)
			}
		}
	}
}

// TestFitKeepsIdentity shortens names to the widths of other texts and checks that the
// result keeps the part that distinguishes them.
func TestFitKeepsIdentity(t *testing.T) {
	f := Regular(11.5)
	for _, c := range []struct{ name, at, want string }{
		{"net/http.(*conn).serve", "http.(*conn).serve", "http.(*conn).serve"},
		{"net/http.(*conn).serve", "a room of no end for this name", "http.(*conn).serve"},
		{"net/http.(*conn).serve", "http…serve", "serve"},
		{"net/http.(*conn).serve", "ht…serve", "serve"},
		{"net/http.(*conn).serve", "serve", "serve"},
		{"encoding/json.Unmarshal", "json…Unmarshal", "json.Unmarshal"},
		{"encoding/json.Unmarshal", "js…Unmarshal", "Unmarshal"},
		{"blink::LocalFrameView::performLayout(int) const", "blink::LocalFrameView::performLayout", "blink::LocalFrameView::performLayout"},
		{"blink::LocalFrameView::performLayout(int) const", "blink…performLayout", "performLayout"},
		{"blink::LocalFrameView::performLayout(int) const", "bl…perform…", "perform…"},
		{"finish_task_switch.isra.0", "finish_task_switch", "finish_task_switch"},
		{"finish_task_switch.isra.0", "finish_task_sw…", "finish_task…"},
		{"ThreadControllerImpl", "ThreadContr…", "Thread…"},
		{"ThreadControllerImpl", "Thre…", "Thre…"},
		{"frame 48702", "fra…48702", "frame…"},
		{"/usr/lib/x86_64-linux-gnu/libc.so.6", "…gnu/libc.so.6", "…/libc.so.6"},
		{"[blocked: chan receive]", "[chan receive]", "[chan receive]"},
		{"[blocked: sleeping]", "[sleep…]", ""},
		{"[runnable]", "[runn…]", ""},
		{"[garbage collection]", "[garbage co…]", "[garbage…]"},
	} {
		if got := f.Fit(c.name, f.Measure(c.at)+.1); got != c.want {
			t.Errorf("%s in the room of %q is %q, want %q", c.name, c.at, got, c.want)
		}
	}
	// Methods of the same name on several types must differ at any width, and no name is
	// shortened to fewer than four letters.
	types := []string{"structEncoder", "arrayEncoder", "mapEncoder", "ptrEncoder"}
	f.names = funcname.NewLabels(func(yield func(string) bool) {
		for _, typ := range types {
			yield("encoding/json." + typ + ".encode")
		}
	}, slices.Values([]string(nil)))
	for w := float32(0); w < 250; w++ {
		seen := map[string]string{}
		for _, typ := range types {
			name := "encoding/json." + typ + ".encode"
			got := f.Fit(name, w)
			if got == "" {
				continue
			}
			if other := seen[got]; other != "" {
				t.Errorf("%v wide, %s and %s both are %q", w, name, other, got)
			}
			if seen[got] = name; utf8.RuneCountInString(got) < 5 {
				t.Errorf("%v wide, %s is %q", w, name, got)
			}
		}
	}
}

// TestNeighboursStayTellable shortens names that differ in one part, as in real
// recordings. With room for a dozen letters they must differ, and at any width a
// shortened name has at least four letters.
func TestNeighboursStayTellable(t *testing.T) {
	for _, f := range []*Face{Regular(11.5), Medium(12.5), Regular(23)} {
		for _, of := range [][]string{
			{"finish_task_switch.isra.0", "prepare_task_switch.isra.0", "finish_task_wait.isra.0", "start_task_switch.isra.0"},
			{"action 'Linking out/bin/app-fl.a'", "action 'Linking out/bin/tool-fl.a'", "action 'Compiling out/bin/app-fl.o'", "action 'Linking out/bin/app-fl.so'"},
			{"runner.py(126): <module>", "runner.py(126): run", "loader.py(126): <module>", "runner.py(31): <module>"},
			{"InstantiateFunction (detail)", "InstantiateFunction (total)", "ParseFunction (detail)", "InstantiateClass (detail)"},
			{"preprocess: w:/windows kits/10/include/um/windows.h", "preprocess: w:/windows kits/10/include/um/winnt.h", "preprocess: w:/windows kits/10/include/um/winbase.h", "codegen: w:/windows kits/10/include/um/windows.h", "parse: w:/windows kits/10/include/um/windows.h"},
			{"[blocked: chan receive]", "[blocked: chan send]", "[blocked: sleeping]", "[blocked: idle]", "[blocked]", "[runnable]", "[running]"},
			{"thread 639 (pt_autograd_0)", "thread 640 (pt_autograd_1)", "thread 641 (pt_autograd_2)", "thread 139 (pt_main)"},
			{"org.apache.hadoop.hdfs.DFSInputStream.read", "org.apache.hadoop.hdfs.DFSOutputStream.read", "org.apache.hadoop.hdfs.DFSInputStream.seek", "org.apache.hadoop.fs.FSInputStream.read"},
			{"ThreadPoolForegroundWorker 7412", "ThreadPoolForegroundWorker 7413", "ThreadPoolForegroundWorker 912"},
			{"ThreadPoolForegroundWorker", "ThreadPoolBackgroundWorker", "ThreadPoolServiceThread"},
			{"gcBgMarkWorker", "gcBgMarkWorkers", "gcBgSweepWorker"},
		} {
			f.names = funcname.NewLabels(slices.Values(of), slices.Values(of))
			for w := float32(0); w < f.Measure(of[0])+20; w++ {
				seen := map[string]string{}
				for _, name := range of {
					got := f.Fit(name, w)
					if got == "" {
						continue
					}
					if f.Measure(got) > w+.1 || utf8.RuneCountInString(got) < min(4, utf8.RuneCountInString(name)) {
						t.Errorf("%s in %v pixels is %q", name, w, got)
					}
					if other := seen[got]; other != "" && w >= f.Measure("twelve chars") {
						t.Errorf("in %v pixels both %s and %s are %q", w, other, name, got)
					}
					seen[got] = name
				}
			}
		}
	}
}

func TestBlend(t *testing.T) {
	d, s := Pack(color.NRGBA{10, 200, 30, 255}), Pack(color.NRGBA{250, 20, 130, 255})
	if got := blend(uint32(d), uint32(s), 0); got != uint32(d) {
		t.Errorf("blend with no opacity changed %08x to %08x", d, got)
	}
	if got := blend(uint32(d), uint32(s), 255); got != uint32(s) {
		t.Errorf("blend with full opacity gives %08x, want %08x", got, s)
	}
	for a := uint32(0); a < 256; a += 5 {
		got := blend(uint32(d), uint32(s), a)
		for sh := 0; sh < 24; sh += 8 {
			x, y := int(d>>sh&255), int(s>>sh&255)
			want := x + (y-x)*int(a)/255
			if g := int(got >> sh & 255); g < want-2 || g > want+2 {
				t.Fatalf("channel %d at %d: %d, want about %d", sh/8, a, g, want)
			}
		}
	}
}

func TestDrawingIsClipped(t *testing.T) {
	c := NewCanvas(20, 10, Pack(color.NRGBA{0, 0, 0, 255}))
	c.Bar(-5, -5, 100, 100, 0xffffffff, 2)
	c.Rect(5, 5, 3, 3, 0xff0000ff)
	c.Shade(-1, -1, 30, 30, 0xff00ff00, 128)
	Regular(12).Draw(c, -3, 9, "clipped text", 0xff000000, 0, 20)
	Regular(12).Draw(c, 3, 900, "below", 0xff000000, -10, 90)
	for _, x := range []int{-3, 0, 7, 12} {
		line := c.Line(x, x+9, 4)
		if (line == nil) != (x < 0 || x+9 > 20) {
			t.Fatalf("the line from %d is %v", x, line)
		}
		if line == nil {
			continue
		}
		for i := range line {
			line[i] = Color(0xff000000 + x + i)
		}
		was := c.at(x+9, 0)
		c.Repeat(x, x+9, 4, -4, 40)
		for i := range line {
			if want := 0xff000000 + uint32(x+i); c.at(x+i, 0) != want || c.at(x+i, 9) != want {
				t.Errorf("column %d of %d has %08x", i, x, c.at(x+i, 0))
			}
		}
		if c.at(x+9, 0) != was {
			t.Errorf("what stands right of %d was drawn over", x+9)
		}
	}
	if c.Line(0, 5, -1) != nil || c.Line(0, 5, 10) != nil {
		t.Error("there are lines outside")
	}
}
