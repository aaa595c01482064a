package main

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ashlar/app/command"
)

// plainFrame and plainStack are a minimal model of stacks, outermost frame first, on which the
// test applies each transform itself.
type plainFrame struct {
	name, module, file string
	inlined, kernel    bool
}

type plainStack struct {
	frames []plainFrame
	weight int
	tenant string
}

var plainFrames = map[byte]plainFrame{
	'm': {"m", "app", "m.c", false, false}, 'a': {"a", "app", "a.c", false, false}, 'b': {"b", "app", "a.c", false, false},
	'i': {"i", "app", "a.c", true, false}, 'l': {"l", "lib", "l.c", false, false}, 'q': {"q", "lib", "l.c", false, false},
	'k': {"k", "kern", "", false, true}, 'j': {"j", "kern", "", false, true},
}

func unstyled(stack string, weight int, tenant string) plainStack {
	s := plainStack{weight: weight, tenant: tenant}
	for _, c := range []byte(stack) {
		s.frames = append(s.frames, plainFrames[c])
	}
	return s
}

// somePlainStacks lists the stacks in file order. The last is the kernel half of the one
// before it, see --split-related.
var somePlainStacks = []plainStack{
	unstyled("maab", 5, "t1"), unstyled("mailq", 7, "t2"), unstyled("mlaq", 11, "t1"), unstyled("mbkj", 17, "t2"), unstyled("mala", 13, "t1"), unstyled("mb", 19, "t2"), unstyled("kj", 6, "t2"),
}

// plainFile writes somePlainStacks as SPAA.
func plainFile(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"type":"header","format":"spaa","version":"1.0","source_tool":"dtrace","frame_order":"leaf_to_root","events":[{"name":"profile","kind":"timer","sampling":{"mode":"frequency","primary_metric":"samples","frequency_hz":97}}],"stack_id_mode":"local"}` + "\n")
	for i, m := range []string{"app", "lib", "kern"} {
		fmt.Fprintf(&b, `{"type":"dso","id":%d,"name":%q,"is_kernel":%v}`+"\n", i, m, m == "kern")
	}
	for c, f := range plainFrames {
		kind, inlined, line := "user", "", ""
		if f.kernel {
			kind = "kernel"
		}
		if f.inlined {
			inlined = `,"inlined":true,"inline_depth":1`
		}
		if f.file != "" {
			line = fmt.Sprintf(`,"srcline":"%s:3"`, f.file)
		}
		fmt.Fprintf(&b, `{"type":"frame","id":%d,"func":%q,"dso":%d,"kind":%q%s%s}`+"\n", c, f.name, slices.Index([]string{"app", "lib", "kern"}, f.module), kind, line, inlined)
	}
	for i, s := range somePlainStacks {
		var ids []string
		for _, f := range slices.Backward(s.frames) {
			ids = append(ids, strconv.Itoa(int(f.name[0])))
		}
		half := ""
		switch i {
		case len(somePlainStacks) - 2:
			half = fmt.Sprintf(`"stack_type":"user","related_stacks":[%d],`, i+1)
		case len(somePlainStacks) - 1:
			half = fmt.Sprintf(`"stack_type":"kernel","related_stacks":[%d],`, i-1)
		}
		fmt.Fprintf(&b, `{"type":"stack","id":%d,%s"frames":[%s],"context":{"event":"profile","tenant":%q},"weights":[{"metric":"samples","value":%d}]}`+"\n",
			i, half, strings.Join(ids, ","), s.tenant, s.weight)
	}
	path := filepath.Join(t.TempDir(), "plain.spaa")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// plainBar is a bar of a flamegraph; x0 and w are in thousandths of the flamegraph's width.
type plainBar struct {
	row   int
	name  string
	x0, w int
}

// layPlain returns the bars of the stacks' flamegraph, laid out without any optimization.
func layPlain(stacks []plainStack, byTime bool) (bars []plainBar) {
	all := 0
	for _, s := range stacks {
		all += s.weight
	}
	var lay func(stacks []plainStack, row, at int)
	lay = func(stacks []plainStack, row, at int) {
		type group struct {
			name  string
			total int
			rest  []plainStack
		}
		var groups []group
		for _, s := range stacks {
			if len(s.frames) == 0 {
				continue
			}
			i := slices.IndexFunc(groups, func(g group) bool { return g.name == s.frames[0].name })
			if i < 0 {
				i, groups = len(groups), append(groups, group{name: s.frames[0].name})
			}
			groups[i].total += s.weight
			groups[i].rest = append(groups[i].rest, plainStack{s.frames[1:], s.weight, s.tenant})
		}
		if !byTime {
			slices.SortStableFunc(groups, func(a, b group) int { return cmp.Compare(b.total, a.total) })
		}
		for _, g := range groups {
			bars = append(bars, plainBar{row, g.name, at * 1000 / all, g.total * 1000 / all})
			lay(g.rest, row+1, at)
			at += g.total
		}
	}
	lay(stacks, 1, 0)
	return bars
}

// drawnBars returns the bars of an SVG flamegraph. A text is the label of the rectangle before
// it.
func drawnBars(t *testing.T, svg string) (bars []plainBar) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	var rect map[string]float64
	label, whole := false, 0.
	for {
		tok, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := tok.(type) {
		case xml.StartElement:
			label = e.Name.Local == "text" && rect != nil
			if e.Name.Local != "rect" {
				continue
			}
			rect = map[string]float64{}
			for _, a := range e.Attr {
				rect[a.Name.Local], _ = strconv.ParseFloat(a.Value, 64)
			}
		case xml.CharData:
			if !label {
				continue
			}
			if whole == 0 { // the first bar is the root
				whole = rect["width"] + 1
			} else {
				bars = append(bars, plainBar{int(rect["y"]) / 20, string(e), int(rect["x"] * 1000 / whole), int((rect["width"] + 1) * 1000 / whole)})
			}
			rect, label = nil, false
		}
	}
	return bars
}

// each returns a transform that replaces the frames of each stack by f's, and drops stacks for
// which f returns false.
func each(f func(s plainStack) (fs []plainFrame, ok bool)) func([]plainStack) []plainStack {
	return func(in []plainStack) (out []plainStack) {
		for _, s := range in {
			if fs, ok := f(s); ok {
				out = append(out, plainStack{fs, s.weight, s.tenant})
			}
		}
		return out
	}
}

func at(s plainStack, name string) int {
	return slices.IndexFunc(s.frames, func(f plainFrame) bool { return f.name == name })
}

// without returns a transform that removes the frames for which is returns true.
func without(is func(plainFrame) bool) func([]plainStack) []plainStack {
	return each(func(s plainStack) ([]plainFrame, bool) { return slices.DeleteFunc(slices.Clone(s.frames), is), true })
}

// merged returns a transform that replaces neighbours with the same key by one frame named
// after the key; frames with key "" stay.
func merged(key func(plainFrame) string) func([]plainStack) []plainStack {
	return each(func(s plainStack) (out []plainFrame, ok bool) {
		for _, f := range s.frames {
			if k := key(f); k != "" {
				f = plainFrame{name: k}
			}
			if n := len(out); n == 0 || f.module != "" || out[n-1] != f {
				out = append(out, f)
			}
		}
		return out, true
	})
}

// TestRenderTakesEveryTransform draws the flamegraph with each transform flag and compares its
// bars with those of stacks transformed by this test.
func TestRenderTakesEveryTransform(t *testing.T) {
	reversed := func(fs []plainFrame) []plainFrame {
		fs = slices.Clone(fs)
		slices.Reverse(fs)
		return fs
	}
	has := func(name string) func(plainStack) ([]plainFrame, bool) {
		return func(s plainStack) ([]plainFrame, bool) { return s.frames, at(s, name) >= 0 }
	}
	join := func(in []plainStack) []plainStack {
		u, k := in[len(in)-2], in[len(in)-1]
		both := plainStack{append(slices.Clone(u.frames), k.frames...), k.weight, u.tenant}
		u.weight -= k.weight
		return append(slices.Clone(in[:len(in)-2]), u, both)
	}
	stacks := func(flags string) []plainStack {
		if flags == "--split-related" {
			return somePlainStacks
		}
		return join(somePlainStacks)
	}
	for flags, want := range map[string]func([]plainStack) []plainStack{
		"":                  each(func(s plainStack) ([]plainFrame, bool) { return s.frames, true }),
		"--focus=a":         each(has("a")),
		"--only=l.c":        each(func(s plainStack) ([]plainFrame, bool) { return s.frames, at(s, "l") >= 0 || at(s, "q") >= 0 }),
		"--hide=a":          without(func(f plainFrame) bool { return f.name == "a" }),
		"--drop=a":          each(func(s plainStack) ([]plainFrame, bool) { return s.frames, at(s, "a") < 0 }),
		"--where=tenant=t1": each(func(s plainStack) ([]plainFrame, bool) { return s.frames, s.tenant == "t1" }),
		"--collapse-recursion": each(func(s plainStack) ([]plainFrame, bool) {
			return slices.CompactFunc(slices.Clone(s.frames), func(a, b plainFrame) bool { return a.name == b.name }), true
		}),
		"--collapse-recursion-of=a": each(func(s plainStack) ([]plainFrame, bool) {
			first, last := at(s, "a"), -1
			for i, f := range s.frames {
				if f.name == "a" {
					last = i
				}
			}
			if first < 0 {
				return s.frames, true
			}
			return append(slices.Clone(s.frames[:first+1]), s.frames[last+1:]...), true
		}),
		"--collapse-module=lib": merged(func(f plainFrame) string {
			if f.module == "lib" {
				return "lib"
			}
			return ""
		}),
		"--merge-by-module": merged(func(f plainFrame) string { return f.module }),
		"--merge-by-file":   merged(func(f plainFrame) string { return cmp.Or(f.file, "[no file]") }),
		"--fold-inlined":    without(func(f plainFrame) bool { return f.inlined }),
		"--hide-kernel":     without(func(f plainFrame) bool { return f.kernel }),
		"--callers-of=l": each(func(s plainStack) ([]plainFrame, bool) {
			return reversed(s.frames[:at(s, "l")+1]), at(s, "l") >= 0
		}),
		"--callees-of=l": each(func(s plainStack) ([]plainFrame, bool) {
			return s.frames[max(0, at(s, "l")):], at(s, "l") >= 0
		}),
		"--show-from=name:/^l$/": each(func(s plainStack) ([]plainFrame, bool) {
			return s.frames[max(0, at(s, "l")):], at(s, "l") >= 0
		}),
		"--mine=a.c":      without(func(f plainFrame) bool { return f.file != "a.c" }),
		"--split-related": each(func(s plainStack) ([]plainFrame, bool) { return s.frames, true }),
		"--invert":        each(func(s plainStack) ([]plainFrame, bool) { return reversed(s.frames), true }),
		"--by-time":       each(func(s plainStack) ([]plainFrame, bool) { return s.frames, true }),
		"--hide-kernel --hide=a --invert": func(in []plainStack) []plainStack {
			in = without(func(f plainFrame) bool { return f.kernel || f.name == "a" })(in)
			return each(func(s plainStack) ([]plainFrame, bool) { return reversed(s.frames), true })(in)
		},
	} {
		t.Run(flags, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out.svg")
			args := append([]string{"render", plainFile(t), "--view", "flame", "--size", "2000x300", "-o", out}, strings.Fields(flags)...)
			var errs strings.Builder
			if code := command.Main(args, nil, io.Discard, &errs, command.Runner{Render: render}); code != command.Done {
				t.Fatalf("exit code %d: %s", code, errs.String())
			}
			svg, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			got, want := drawnBars(t, string(svg)), layPlain(want(stacks(flags)), flags == "--by-time")
			order := func(a, b plainBar) int { return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.x0, b.x0)) }
			slices.SortFunc(got, order)
			slices.SortFunc(want, order)
			alike := func(a, b plainBar) bool {
				return a.row == b.row && a.name == b.name && math.Abs(float64(a.x0-b.x0)) <= 2 && math.Abs(float64(a.w-b.w)) <= 2
			}
			if !slices.EqualFunc(got, want, alike) || len(want) == 0 {
				t.Errorf("it draws\n%v, not\n%v", got, want)
			}
		})
	}
}
