package dhat

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/samples"
)

var decodeBytes = decodetest.Of(Decode)

// naive is a file as read with encoding/json.
type naive struct {
	Pps  []map[string]any
	Ftbl []string
}

// sums returns each metric's sum for each stack, as addresses from the outermost to the
// leaf.
func (n *naive) sums() map[string]int64 {
	out := map[string]int64{}
	names := map[string]string{"tb": "alloc_space", "tbk": "alloc_objects", "gb": "peak_space", "gbk": "peak_objects", "eb": "inuse_space",
		"ebk": "inuse_objects", "mb": "max_space", "mbk": "max_objects", "tl": "lifetime", "rb": "read", "wb": "written"}
	for _, p := range n.Pps {
		path := ""
		for _, v := range p["fs"].([]any) {
			if text := n.Ftbl[int(v.(float64))]; text != "[root]" {
				addr, _, _ := strings.Cut(text, ":")
				path = strings.ToLower(addr) + ";" + path
			}
		}
		for key, name := range names {
			if v, ok := p[key].(float64); ok {
				out[name+" "+path] += int64(v)
			}
		}
	}
	return out
}

func sumsOf(r *recording.Recording) map[string]int64 {
	out := map[string]int64{}
	for _, s := range r.Stacks {
		if s == nil {
			continue
		}
		for i := range s.Len() {
			path := ""
			for c := s.Call(i); c != recording.NoCall; c = r.Calls.Parent(c) {
				path = fmt.Sprintf("0x%x;", r.Frames.At(int(r.Calls.Frame(c))).Addr) + path
			}
			for k, m := range r.Events[0].Metrics {
				out[m.Name+" "+path] += s.Value(i, k)
			}
		}
	}
	return out
}

func compare(t *testing.T, content []byte) {
	t.Helper()
	var n naive
	if err := json.Unmarshal(content, &n); err != nil {
		t.Fatal(err)
	}
	want := n.sums()
	for _, chunk := range []int{0, 7, 100} {
		r, err := decodeBytes(t, content, chunk)
		if err != nil || len(r.Warnings) > 0 {
			t.Fatal(err, r.Warnings)
		}
		if got := sumsOf(r); !maps.Equal(got, want) {
			t.Errorf("in chunks of %d\n got %v\nwant %v", chunk, got, want)
		}
	}
}

// TestSampleFile compares the sums with those computed by jq.
func TestSampleFile(t *testing.T) {
	in, err := source.Open(samples.Path(t, "firefox/fx_dhat.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	b := recording.NewBuilder()
	if err := Decode(context.Background(), in, b, decode.Options{}); err != nil {
		t.Fatal(err)
	}
	r := b.Finish()
	got := map[string]int64{}
	for _, m := range r.Events[0].Metrics {
		got[m.Name] = m.Total
	}
	for name, want := range map[string]int64{"alloc_space": 21642, "alloc_objects": 133, "peak_space": 9584, "peak_objects": 91, "inuse_space": 1112, "inuse_objects": 3, "lifetime": 146177} {
		if got[name] != want {
			t.Errorf("%s: %d, want %d", name, got[name], want)
		}
	}
}

// small contains the special cases that Valgrind writes: a place without a name, one
// instruction in two functions, a name with brackets, and a column.
const small = `{"dhatFileVersion":2
,"mode":"heap","verb":"Allocated"
,"bklt":true,"bkacc":true
,"tu":"instrs","Mtu":"Minstr"
,"tuth":500
,"cmd":"ls /"
,"pid":7
,"te":900,"tg":800
,"pps":
 [{"tb":472,"tbk":2
  ,"tl":130
  ,"mb":300,"mbk":1
  ,"gb":172,"gbk":1
  ,"eb":0,"ebk":0
  ,"rb":1660,"wb":890
  ,"acc":[105,-3,102]
  ,"fs":[1,2,3,4]
  }
 ,{"tb":8,"tbk":1
  ,"tl":1
  ,"mb":8,"mbk":1
  ,"gb":8,"gbk":1
  ,"eb":8,"ebk":1
  ,"rb":0,"wb":0
  ,"acc":[]
  ,"fs":[1,5,4]
  }
 ]
,"ftbl":
 ["[root]"
 ,"0x4848899: malloc (in /usr/libexec/valgrind/vgpreload.so)"
 ,"0x490D63D: inner (fileops.c:1243)"
 ,"0x490D63D: outer(int, (anonymous)) (fileops.c:1196)"
 ,"0x10CBE4: ??? (in /usr/bin/ls)"
 ,"0x10: <T as U>::f (lib.rs:12:9)"
 ]
}
`

func TestSmall(t *testing.T) {
	compare(t, []byte(small))
	r, err := decodeBytes(t, []byte(small), 0)
	if err != nil {
		t.Fatal(err)
	}
	if s := r.Source; s.Command != "ls /" || s.Version != "2" || fmt.Sprint(s.Notes) != "[{mode heap} {process 7} {time at the end 900} {time of the peak 800} {unit of time instrs}]" {
		t.Errorf("%+v", s)
	}
	var got []string
	for i := range r.Stacks[0].Len() {
		for c := r.Stacks[0].Call(i); c != recording.NoCall; c = r.Calls.Parent(c) {
			f := r.Frames.At(int(r.Calls.Frame(c)))
			fn := r.Functions.At(int(f.Func))
			got = append(got, fmt.Sprintf("%s|%s|%s|%d:%d|%v%v", fn.Name, fn.Module, fn.File, f.Line, f.Column, f.Inlined, fn.Unresolved))
		}
	}
	want := `malloc|vgpreload.so||0:0|falsefalse
inner||fileops.c|1243:0|truefalse
outer(int, (anonymous))||fileops.c|1196:0|falsefalse
0x10cbe4|ls||0:0|falsetrue
malloc|vgpreload.so||0:0|falsefalse
<T as U>::f||lib.rs|12:9|falsefalse
0x10cbe4|ls||0:0|falsetrue`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

// TestAdHoc checks that an ad-hoc profile has the units that the program named.
func TestAdHoc(t *testing.T) {
	r, err := decodeBytes(t, []byte(`{"dhatFileVersion":2,"mode":"ad-hoc","verb":"Used","bklt":false,"bkacc":false,"bu":"unit","bsu":"units","bksu":"events","tu":"µs","Mtu":"s",
"cmd":"x","pid":1,"te":5,"pps":[{"tb":12,"tbk":3,"fs":[1]}],"ftbl":["[root]","0x5: f (a.rs:1:2)"]}`), 0)
	if err != nil || len(r.Warnings) > 0 {
		t.Fatal(err, r.Warnings)
	}
	if e := r.Events[0]; e.Kind != "ad-hoc" || fmt.Sprint(e.Metrics) != "[{total units 0 sum 0 12} {count events 0 sum 0 3}]" {
		t.Errorf("%+v", e)
	}
}

func random(r *rand.Rand) []byte {
	ftbl := []string{"[root]"}
	for i := range 9 {
		ftbl = append(ftbl, fmt.Sprintf("0x%X: f%d (a.c:%d)", 16+i*16, i, i+1))
	}
	var pps []object
	for range 1 + r.IntN(6) {
		fs := []int{}
		for range r.IntN(5) {
			fs = append(fs, r.IntN(10))
		}
		p := object{"fs": fs, "acc": []int{1, -2}}
		for _, key := range strings.Fields("tb tbk tl mb mbk gb gbk eb ebk rb wb") {
			p[key] = r.IntN(1000)
		}
		p["tb"] = 1000 + r.IntN(1000) // tb must not be less than any of the values at one time
		pps = append(pps, p)
	}
	a, _ := json.Marshal(pps)
	b, _ := json.Marshal(ftbl)
	return fmt.Appendf(nil, `{"dhatFileVersion":2,"mode":"heap","tu":"instrs","pps":%s,"ftbl":%s}`, a, b)
}

type object = map[string]any

func TestRandomFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		compare(t, random(r))
	}
}

// TestSentences checks the message and its place for a file with one fault per case.
func TestSentences(t *testing.T) {
	replace := func(a, b string) string { return strings.Replace(small, a, b, 1) }
	where := func(text string) string { return fmt.Sprintf("byte %d", strings.Index(small, text)) }
	first, second := where(`{"tb":472`), where(`{"tb":8`)
	for _, x := range []struct{ name, content, place, want string }{
		{"nothing in it", `{"dhatFileVersion":2,"pps":[],"ftbl":[]}`, "", "the DHAT profile has no stacks"},
		{"cut", small[:strings.Index(small, `,"ftbl"`)], where(`,"ftbl"`), "The file is truncated at " + where(`,"ftbl"`) + "; everything before is shown"},
		{"damaged", replace(`,"fs":[1,5,4]`, `,"fs"![1,5,4]`), where(`![1,5`), ""},
		{"another version", replace(`Version":2`, `Version":3`), "", `The file has version "3"; it is read as version 2`},
		{"no point", replace(`[{"tb":472`, `[7,{"tb":472`), first, "The value at " + first + " is not a program point and was left out"},
		{"no number", replace(`{"tb":8,`, `{"tb":-8,`), second, `The value "tb" of the program point at ` + second + " is not a number or too large and was left out"},
		{"too large", replace(`{"tb":8,`, `{"tb":1e30,`), second, `The value "tb" of the program point at ` + second + " is not a number or too large and was left out"},
		{"more at one time than in all", strings.Replace(small, `{"tb":472`, `{"tb":2`, 1), first, "The program point at " + first + ` has 172 as "gb", more than its total "tb", 2`},
		{"no frame", replace(`[1,5,4]`, `[1,99,4]`), second, "The program point at " + second + " refers to a missing frame, which was left out of the stack"},
	} {
		r, err := decodeBytes(t, []byte(x.content), 0)
		if x.name == "damaged" {
			if len(r.Warnings) == 0 || !strings.Contains(r.Warnings[0].Text, "The file is damaged at byte ") {
				t.Errorf("damaged: %v %v", err, r.Warnings)
			}
			continue
		}
		decodetest.Sentence(t, x.name, r, err, x.place, x.want)
	}
}

func TestSniff(t *testing.T) {
	decodetest.Sniffs(t, Sniff, false, map[string]decode.Confidence{
		"": decode.No, "{}": decode.No, `["dhatFileVersion"]`: decode.No, `{"a":{"dhatFileVersion":2}}`: decode.No,
		` {"dhatFileVersion":2,"mo`: decode.Certain, small: decode.Certain,
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(small), 3)
	f.Add(random(rand.New(rand.NewPCG(1, 2))), 7)
	decodetest.FuzzParts(f, Decode, Sniff, sumsOf)
}
