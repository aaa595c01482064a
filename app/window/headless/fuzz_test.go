package headless

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"gioui.org/op"

	"ashlar/app/core/view"
	"ashlar/app/window/drawing"
	"ashlar/app/window/shell"
	"ashlar/render/theme"
)

// FuzzFrame opens random addresses of one recording and of two and lays out the result:
// no frame may hang or panic.
func FuzzFrame(f *testing.F) {
	f.Add("show=0s..9223372s", false)
	f.Add("show=-9223372s..9223372s&goal=9223372036854775807ps", false)
	f.Add("show=0s..9223372s&show.b=-9223372s..0s&with=unlinked", true)
	for seed := range uint64(60) {
		f.Add(randomKeys(rand.New(rand.NewPCG(seed, 3))), seed%4 == 3)
	}
	f.Fuzz(func(t *testing.T, keys string, two bool) {
		at := "ashlar:1?file=demo:&" + keys
		if two {
			at += "&file=demo:"
		}
		v, err := view.Parse(at)
		if err != nil || v.Exe != "" || len(v.Files) != len(strings.Split(at, "file=demo:"))-1 {
			t.Skip("no address, or one of a file")
		}
		late := time.AfterFunc(2*time.Minute, func() {
			debug.SetTraceback("all")
			panic("the frame does not end: " + at)
		})
		defer late.Stop()
		s := shell.New(theme.Dark)
		defer s.Close()
		s.Open(at)
		var ops op.Ops
		for range 2 {
			// The window shows errors, and they are laid out too.
			_ = s.Finish()
			drawing.Frame(s, &ops, 640, 420, 1)
		}
		if _, err := view.Parse(s.Address().String()); err != nil {
			t.Errorf("%s shows what has no address: %v", at, err)
		}
	})
}

// randomKeys returns random keys of an address with likely and unlikely values.
func randomKeys(r *rand.Rand) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	times := func() string {
		return pick("0s", "-1ps", "1ps", "400ms", "1.2s", "5s", "-9223372s", "9223372s", "9223372036854775807ps", "-9223372036854775807ps", fmt.Sprint(r.Int64()>>r.IntN(63))+"ps")
	}
	numbers := func() string {
		return pick("0", "-1", "1", "0.5", "1e", "340282346638528859811704183484516925440", "-340282346638528859811704183484516", fmt.Sprint(r.Float64()*1000))
	}
	thread := func() string {
		return pick("1:1", "4242:4511", "-1:pinned", "0:0", "9223372036854775807:-9223372036854775808", "1:1:name")
	}
	function := func() string {
		return pick("runtime.mallocgc", "main.main", "", "x:y", "%00", "%F0%9F%98%80", "%E2%80%AE")
	}
	values := map[string]func() string{
		"show": func() string { return times() + ".." + times() }, "select": func() string { return times() + ".." + times() },
		"goal": times, "anchor": times, "scroll": numbers, "down": numbers, "split": numbers,
		"line":   func() string { return pick("0", "1", "2147483647") },
		"thread": thread, "fold": thread, "unfold": thread, "hide": thread, "pin": thread, "order": thread,
		"close":  func() string { return pick("1", "-1:pinned", "4242") },
		"bar":    func() string { return thread() + "@" + pick("0", "1", "1048576") + "@" + times() },
		"filter": function, "find": function, "function": function, "node": function, "around": function, "zoom": function, "callers": function, "callees": function,
		"tab": func() string {
			return pick("flamegraph", "functions", "calls", "heatmap", "source", "about", "callers", "difference", "table", "two", "distribution", "pairing", "nothing")
		},
		"view":      func() string { return pick("timeline", "flame", "lower", "both") },
		"transform": func() string { return pick("invert", "focus:main", "hide!x:y", "module", "focus:(") },
		"widths":    func() string { return "Self:" + numbers() },
		"columns":   func() string { return pick("self", "total,self", "nothing") },
		"sort":      func() string { return pick("self", "-name", "nothing") }, "table": func() string { return pick("module", "file", "thread", "nothing") },
		"mark":  func() string { return times() + ".." + times() + ":" + function() },
		"with":  func() string { return pick("up", "lists", "linear", "unlinked", "by-call", "b", "nothing") },
		"event": function, "metric": function, "normalize": func() string { return pick("duration", "total", "samples", "nothing") },
		"threads": func() string { return pick("name", "busiest", "nothing") }, "layout": func() string { return pick("above", "beside", "nothing") },
		"part": func() string { return times() + ".." + times() },
	}
	keys := slices.Sorted(maps.Keys(values))
	var parts []string
	seen := map[string]bool{}
	for range 1 + r.IntN(8) {
		if k := keys[r.IntN(len(keys))]; !seen[k] {
			seen[k] = true
			parts = append(parts, k+"="+values[k]())
		}
	}
	return strings.Join(parts, "&")
}
