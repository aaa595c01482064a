// Package pairs lists recordings of small real programs before and after planted changes,
// and the causes that a comparison must name first.
package pairs

import "fmt"

// Languages of the programs.
const (
	Go   = "go"
	CPP  = "cpp"
	Node = "node"
)

// Languages lists the languages.
var Languages = []string{Go, CPP, Node}

// Unchanged is the number of recordings of the unchanged program in each language. They
// differ only by noise.
const Unchanged = 15

// UnchangedFile returns the name of a recording of the unchanged program.
func UnchangedFile(language string, i int) string {
	return fmt.Sprintf("recordings/%s-unchanged-%02d%s", language, i, suffix[language])
}

// Runs is the number of recordings per side, for pairs that have several.
const Runs = 5

// RunFile returns the name of a recording of a program with several: of the changed one of
// a pair, or of the unchanged one if name is "before".
func RunFile(language, name string, i int) string {
	return fmt.Sprintf("recordings/five/%s-%s-%d%s", language, name, i, suffix[language])
}

// Several lists the pairs of a language. All have the same runs of the program before the
// change.
func Several(language string) (out []Pair) {
	for _, p := range All {
		if p.Language == language {
			out = append(out, p)
		}
	}
	return out
}

// Sides returns the files of both sides of a pair with several runs.
func (p *Pair) Sides() (files [2][]string) {
	for i := range Runs {
		files[0] = append(files[0], RunFile(p.Language, "before", i))
		files[1] = append(files[1], RunFile(p.Language, p.Name, i))
	}
	return files
}

var suffix = map[string]string{Go: ".pb.gz", CPP: ".perf.txt.gz", Node: ".cpuprofile.gz"}

// A Change is the difference between the two programs of a pair.
type Change struct {
	Replace [][2]string // pairs of old and new text in the source
	Flags   string      // flags of the compiler, or of node
	Frames  float64     // factor of the number of frames; 0 is 1
	Workers int         // number of threads; 0 is 1
}

// Times returns the number of frames after the change.
func (c *Change) Times(frames int) int {
	if c.Frames == 0 {
		return frames
	}
	return int(c.Frames * float64(frames))
}

// A Pair is a program before and after a change.
type Pair struct {
	Language, Name string
	Change         Change
	// Causes are the functions that the first sentence has to name, in any order, and
	// that no other function may precede. Without causes it must name no function.
	Causes []string
	// Says is a text that the first sentence has to contain.
	Says string
}

// File returns the name of a recording: 0 is before, 1 after the change.
func (p *Pair) File(side int) string {
	return fmt.Sprintf("recordings/%s-%s-%s%s", p.Language, p.Name, "ab"[side:side+1], suffix[p.Language])
}

// Held reports whether the pair was left unseen until the rules of the verdict were final.
func (p *Pair) Held() bool {
	for i := range All {
		if All[i].Language == p.Language && All[i].Name == p.Name {
			return i%2 == 1
		}
	}
	return false
}

// inlined holds the causes of the pairs with other inlining, alone and with a slower hash.
// In Go it is the cost of calls of blend in draw. In C++, blend is called before and after,
// and sorting loses the inlined functions of the library. In JavaScript, all of the program
// becomes one function.
var inlined = map[string][2][]string{
	Go:   {{"draw"}, {"hash"}},
	CPP:  {{"arrange"}, {"hash", "arrange"}},
	Node: {{"frame"}, {"frame"}},
}

// All lists the pairs.
var All = func() (all []Pair) {
	slower, draws := [2]string{"hashWork = 90000", "hashWork = 135000"}, [2]string{"drawWork = 60", "drawWork = 36"}
	for _, l := range Languages {
		slower, draws := slower, draws
		if l == Go {
			slower, draws = [2]string{"hashWork  = 90000", "hashWork  = 135000"}, [2]string{"drawWork  = 60", "drawWork  = 36"}
		}
		more := [2]string{draws[0], draws[0][:len(draws[0])-2] + "90"}
		rename := [2]string{"draw(", "paintAll("}
		inlining := map[string]string{Go: "-l", CPP: "-fno-inline", Node: "--turbo-inlining"}[l]
		hidden := [2]string{slower[0], slower[0][:len(slower[0])-5] + "120000"}
		all = append(all,
			Pair{Language: l, Name: "slower", Change: Change{Replace: [][2]string{slower}}, Causes: []string{"hash"}},
			Pair{Language: l, Name: "faster", Change: Change{Replace: [][2]string{draws}}, Causes: []string{"draw"}},
			Pair{Language: l, Name: "renamed", Change: Change{Replace: [][2]string{rename}}},
			Pair{Language: l, Name: "renamed-slower", Change: Change{Replace: [][2]string{rename, slower}}, Causes: []string{"hash"}},
			Pair{Language: l, Name: "inlining", Change: Change{Flags: inlining}, Causes: inlined[l][0]},
			Pair{Language: l, Name: "inlining-slower", Change: Change{Flags: inlining, Replace: [][2]string{slower}}, Causes: inlined[l][1]},
			Pair{Language: l, Name: "longer", Change: Change{Frames: 2}, Says: "longer"},
			Pair{Language: l, Name: "longer-slower", Change: Change{Frames: 2, Replace: [][2]string{slower}}, Causes: []string{"hash"}},
			Pair{Language: l, Name: "noise"},
			Pair{Language: l, Name: "two", Change: Change{Replace: [][2]string{slower, more}}, Causes: []string{"hash", "draw"}},
			Pair{Language: l, Name: "hidden", Change: Change{Replace: [][2]string{hidden, draws}}, Causes: []string{"hash", "draw"}},
		)
		if l != Node {
			all = append(all, Pair{Language: l, Name: "threads", Change: Change{Workers: 2}, Says: "thread"})
		}
	}
	return all
}()
