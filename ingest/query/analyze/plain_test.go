package analyze

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
)

// plainFrame and plainStack represent stacks as lists of frames. Tests transform these one
// by one and compare the results.
type plainFrame struct {
	name, module, file string
	line               int32
	kernel, inlined    bool
	group              bool // a module or file
}

func (f plainFrame) String() string {
	if f.group {
		return "{" + f.name + "@" + f.module + "}"
	}
	return f.name + "@" + f.module
}

type plainStack struct {
	frames      []plainFrame // outermost first
	self, count int64
	track       int
	context     string
	at          int64
}

var plainPool = []plainFrame{
	{name: "main", module: "/bin/app", file: "main.go"},
	{name: "f", module: "/bin/app", file: "f.go"},
	{name: "f", module: "/lib/libc.so", file: "f.c"},
	{name: "g", module: "/lib/libc.so", file: "g.c"},
	{name: "h", module: "/bin/app", file: "f.go"},
	{name: "/re/", module: ""},
	{name: "walk", module: "", file: "main.go"},
	{name: "read", module: "[kernel]", kernel: true},
	{name: "Grow", module: "[kernel]", kernel: true, file: "k.c"},
}

// plainWorld makes a recording of random stacks, and the same stacks as lists.
func plainWorld(seed uint64) (*recording.Recording, []plainStack) {
	r := rand.New(rand.NewPCG(seed, 9))
	b := recording.NewBuilder()
	b.AddEvent(recording.Event{Name: "e", Metrics: []recording.Metric{{Name: "n"}}})
	for i := range 3 {
		b.Track(recording.TrackKey{PID: 7, TID: int64(i + 1)})
	}
	var all []plainStack
	for i := range 1 + r.IntN(60) {
		s := plainStack{track: r.IntN(4) - 1, self: int64(r.IntN(50)), count: 1, at: int64(i)}
		var ids []recording.FrameID
		kernelFrom := 4 + r.IntN(8)
		for d := range r.IntN(12) {
			f := plainPool[r.IntN(len(plainPool)-2)]
			if d >= kernelFrom {
				f = plainPool[len(plainPool)-1-r.IntN(2)]
			}
			f.line = int32(r.IntN(3))
			f.inlined = r.IntN(3) == 0
			kind := recording.KindUser
			if f.kernel {
				kind = recording.KindKernel
			}
			fn := b.Function(recording.Function{Name: f.name, Module: f.module, File: f.file, Kind: kind})
			ids = append(ids, b.Frame(recording.Frame{Func: fn, Line: f.line, Inlined: f.inlined, Kind: kind, Addr: uint64(r.IntN(2))}))
			s.frames = append(s.frames, f)
		}
		var attrs []recording.Attr
		if c := r.IntN(3); c > 0 {
			s.context = fmt.Sprint("v", c)
			attrs = append(attrs, recording.Attr{Key: "label", Value: s.context})
		}
		b.AddStack(0, b.Stack(ids), s.track, b.Context(attrs), []int64{s.self})
		all = append(all, s)
	}
	return b.Finish(), all
}

// isFunc returns a test for the frames that a reference means, following the documentation
// of Ref.
func (r Ref) isFunc(all []plainStack) func(plainFrame) bool {
	if r.Exact {
		return func(f plainFrame) bool { return f.name == r.Text && f.module == r.Module }
	}
	for _, s := range all {
		for _, f := range s.frames {
			if f.name == r.Text {
				return func(f plainFrame) bool { return f.name == r.Text }
			}
		}
	}
	if len(r.Text) > 2 && r.Text[0] == '/' {
		re := regexp.MustCompile(r.Text[1 : len(r.Text)-1])
		return func(f plainFrame) bool { return re.MatchString(f.name) }
	}
	name, module, _ := strings.Cut(r.Text, "@")
	return func(f plainFrame) bool {
		return f.name == name && module != "" && (f.module == module || strings.HasSuffix(f.module, "/"+module))
	}
}

func plainMatch(p string, f plainFrame) bool {
	for _, s := range []string{f.name, f.module, f.file} {
		if p[0] == '/' {
			if s != "" && regexp.MustCompile(p[1:len(p)-1]).MatchString(s) {
				return true
			}
		} else if p == strings.ToLower(p) && strings.Contains(strings.ToLower(s), p) || strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// plainApply transforms stacks one by one. A reference is resolved among recorded, the
// stacks of the recording.
func plainApply(recorded, all []plainStack, t Transform) []plainStack {
	is := t.isFunc(recorded)
	var out []plainStack
	for _, s := range all {
		frames := slices.Clone(s.frames)
		first := slices.IndexFunc(frames, is)
		keep := true
		switch t.Op {
		case OpFocus:
			keep = first >= 0
		case OpOnly:
			keep = slices.ContainsFunc(frames, func(f plainFrame) bool { return plainMatch(t.Text, f) })
		case OpHide:
			frames = slices.DeleteFunc(frames, is)
		case OpMine:
			frames = slices.DeleteFunc(frames, func(f plainFrame) bool { return !plainMatch(t.Text, f) })
		case OpDrop:
			keep = first < 0
		case OpHideKernel:
			frames = slices.DeleteFunc(frames, func(f plainFrame) bool { return f.kernel })
		case OpHideLibrary:
			names := map[plainFrame]bool{}
			for _, s := range recorded {
				for _, f := range s.frames {
					names[plainFrame{name: f.name, module: f.module, file: f.file}] = true
				}
			}
			frames = slices.DeleteFunc(frames, func(f plainFrame) bool {
				nowhere := f.module == "" && f.file == "" // its only function, if others are recorded
				return f.kernel || f.module == "/lib/libc.so" || nowhere && len(names) > 3
			})
		case OpFoldInlined:
			var left []plainFrame
			for _, f := range frames {
				if !f.inlined || f.group || len(left) == 0 {
					left = append(left, f)
				}
			}
			frames = left
		case OpCallersOf:
			if keep = first >= 0; keep {
				frames = frames[:first+1]
			}
		case OpCalleesOf:
			if keep = first >= 0; keep {
				frames = frames[first:]
			}
		case OpShowFrom:
			first = slices.IndexFunc(frames, func(f plainFrame) bool { return plainMatch(t.Text, f) })
			if keep = first >= 0; keep {
				frames = frames[first:]
			}
		case OpCollapseRecursion:
			if t.Ref == (Ref{}) {
				frames = slices.CompactFunc(frames, func(a, b plainFrame) bool { return a.String() == b.String() })
			} else if first >= 0 {
				last := first
				for i := range frames {
					if is(frames[i]) {
						last = i
					}
				}
				frames = append(slices.Clone(frames[:first+1]), frames[last+1:]...)
			}
		case OpCollapseModule, OpMergeByModule, OpMergeByFile:
			for i, f := range frames {
				if t.Op == OpCollapseModule && f.module != t.Text && !strings.HasSuffix(f.module, "/"+t.Text) {
					continue
				}
				g := plainFrame{group: true, module: f.module, file: f.file, kernel: f.kernel}
				if t.Op == OpMergeByFile {
					if g.name = f.file; g.name == "" {
						g.name = "[no file]"
					}
					g.module = ""
				} else {
					parts := strings.Split(f.module, "/")
					if g.name = parts[len(parts)-1]; g.name == "" {
						g.name = "[no module]"
					}
					g.file = ""
				}
				frames[i] = g
			}
			frames = slices.CompactFunc(frames, func(a, b plainFrame) bool { return a.group && a.String() == b.String() })
		}
		if keep {
			s.frames = frames
			out = append(out, s)
		}
	}
	return out
}

// randomTransforms returns up to four transforms. Merging comes last, because a merged node
// has the name of its first function, which later transforms could match.
func randomTransforms(r *rand.Rand) []Transform {
	ref := func() Ref {
		f := plainPool[r.IntN(len(plainPool))]
		switch r.IntN(5) {
		case 0:
			return Named(f.name)
		case 1:
			return Named("/^[fg]$/")
		case 2:
			return Named("f@libc.so")
		}
		return RefTo(recording.Function{Name: f.name, Module: f.module})
	}
	makes := []func() Transform{
		func() Transform { return Focus(ref()) },
		func() Transform { return Transform{Op: OpHide, Ref: ref()} },
		func() Transform { return Transform{Op: OpHide, Ref: ref()} },
		func() Transform { return Transform{Op: OpDrop, Ref: ref()} },
		func() Transform { return Only([]string{"libc", "gro", "Gro", "F.go", "/^.$/", "main"}[r.IntN(6)]) },
		func() Transform { return Transform{Op: OpCollapseRecursion} },
		func() Transform { return Transform{Op: OpCollapseRecursion, Ref: ref()} },
		func() Transform { return CollapseModule([]string{"libc.so", "/bin/app", "none"}[r.IntN(3)]) },
		func() Transform { return Transform{Op: OpFoldInlined} },
		func() Transform { return Transform{Op: OpHideKernel} },
		func() Transform { return Transform{Op: OpHideLibrary} },
		func() Transform { return CalleesOf(ref()) },
		func() Transform {
			return Transform{Op: OpMine, Ref: Ref{Text: []string{"libc", "gro", "F.go", "/^[a-m]/", "f"}[r.IntN(5)]}}
		},
		func() Transform {
			return Transform{Op: OpShowFrom, Ref: Ref{Text: []string{"libc", "gro", "F.go", "/^.$/", "f"}[r.IntN(5)]}}
		},
	}
	var ts []Transform
	for range r.IntN(5) {
		ts = append(ts, makes[r.IntN(len(makes))]())
	}
	switch r.IntN(8) {
	case 0:
		ts = append(ts, Transform{Op: OpMergeByFile})
	case 1:
		ts = append(ts, Transform{Op: OpMergeByModule})
	}
	return ts
}

type plainSums struct{ self, total, count int64 }

// plainTree sums stacks by path, inverted or not.
func plainTree(all []plainStack, inverted bool) map[string]plainSums {
	sums := map[string]plainSums{}
	for _, s := range all {
		frames := slices.Clone(s.frames)
		if inverted {
			slices.Reverse(frames)
		}
		path := ""
		for i := 0; ; i++ {
			x := sums[path]
			x.total += s.self
			if i == len(frames) {
				x.self += s.self
				x.count += s.count
				sums[path] = x
				break
			}
			sums[path] = x
			path += ";" + frames[i].String()
		}
	}
	return sums
}

// treeSums returns the sums of a tree by path, like plainTree.
func treeSums(t *testing.T, rec *recording.Recording, tree *Tree) map[string]plainSums {
	t.Helper()
	sums, names := map[string]plainSums{}, make([]string, len(tree.Nodes))
	for i := range tree.Nodes {
		nd := &tree.Nodes[i]
		if i > 0 {
			fn := tree.Function(rec, i)
			f := plainFrame{name: fn.Name, module: fn.Module, group: nd.Group > 0}
			if fn.File == fn.Name && f.group || fn.Name == noFile {
				f.module = ""
			}
			names[i] = names[nd.Parent] + ";" + f.String()
		}
		if _, twice := sums[names[i]]; twice {
			t.Errorf("%s has two nodes", names[i])
		}
		sums[names[i]] = plainSums{nd.Self, nd.Total, nd.Count}
	}
	return sums
}

func sameSums(t *testing.T, what string, got, want map[string]plainSums) {
	t.Helper()
	// The root is always present. All other rows must have records.
	root := func(k string, s plainSums) bool { return k == "" && s == plainSums{} }
	got, want = maps.Clone(got), maps.Clone(want)
	maps.DeleteFunc(got, root)
	maps.DeleteFunc(want, root)
	for k, w := range want {
		if g := got[k]; g != w {
			t.Errorf("%s: %q has %+v, want %+v", what, k, g, w)
		}
	}
	for k, g := range got {
		if _, ok := want[k]; !ok {
			t.Errorf("%s: %q has %+v, want none", what, k, g)
		}
	}
}
