package synth

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
)

// Odd traces are hard for viewers: very many threads, very deep stacks, only distinct
// functions, very long or non-Latin names, almost no content. They are written as
// Chrome's trace events.
var odd = map[string]func(*oddTrace){
	"threads":   oddThreads,
	"deep":      oddDeep,
	"functions": oddFunctions,
	"names":     oddNames,
	"single":    func(t *oddTrace) { t.span(1, 1, 1000, 5, "the only one") },
}

// Odds returns the names of the odd traces, sorted.
func Odds() []string {
	var names []string
	for name := range odd {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// WriteOdd writes an odd trace; the same name gives the same bytes.
func WriteOdd(w io.Writer, name string) error {
	write, ok := odd[name]
	if !ok {
		return fmt.Errorf("there is no odd trace %q: choose one of %s", name, strings.Join(Odds(), ", "))
	}
	t := &oddTrace{w: bufio.NewWriter(w), rng: rand.New(rand.NewPCG(11, 12))}
	fmt.Fprint(t.w, `{"traceEvents":[`)
	write(t)
	fmt.Fprintln(t.w, "\n]}")
	return t.w.Flush()
}

type oddTrace struct {
	w    *bufio.Writer
	rng  *rand.Rand
	some bool
}

func (t *oddTrace) event(format string, args ...any) {
	if t.some {
		t.w.WriteByte(',')
	}
	t.some = true
	t.w.WriteByte('\n')
	fmt.Fprintf(t.w, format, args...)
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings can always be encoded
	}
	return string(b)
}

// span writes a span of dur microseconds.
func (t *oddTrace) span(pid, tid int, at, dur float64, name string) {
	t.event(`{"ph":"X","pid":%d,"tid":%d,"ts":%.3f,"dur":%.3f,"name":%s}`, pid, tid, at, dur, quote(name))
}

func (t *oddTrace) name(what string, pid, tid int, name string) {
	t.event(`{"ph":"M","pid":%d,"tid":%d,"name":"%s_name","args":{"name":%s}}`, pid, tid, what, quote(name))
}

// oddThreads writes 5,000 threads in three processes, each with some nested spans.
func oddThreads(t *oddTrace) {
	for pid := 1; pid <= 3; pid++ {
		t.name("process", pid, 0, fmt.Sprintf("service %d", pid))
	}
	for i := range 5000 {
		pid, tid := 1+i%3, 1000+i
		t.name("thread", pid, tid, fmt.Sprintf("worker-%04d", i))
		at := t.rng.Float64() * 5000
		for range 1 + t.rng.IntN(12) {
			dur := 50 + t.rng.ExpFloat64()*2000
			t.span(pid, tid, at, dur, fmt.Sprintf("handle request %d", t.rng.IntN(20)))
			t.span(pid, tid, at+dur*.1, dur*.5, fmt.Sprintf("query %d", t.rng.IntN(50)))
			t.span(pid, tid, at+dur*.2, dur*.2, "wait")
			at += dur * (1 + t.rng.Float64())
		}
	}
}

// oddDeep nests spans 1,000 levels deep, 40 times, next to a thread without nesting.
func oddDeep(t *oddTrace) {
	t.name("thread", 1, 1, "recursive")
	t.name("thread", 1, 2, "shallow")
	for i := range 40 {
		at, dur := float64(i)*2200, 2001.0
		for depth := range 1000 {
			name := fmt.Sprintf("descend level %d", depth)
			if depth%3 == 1 {
				name = "recur"
			}
			t.span(1, 1, at+float64(depth), dur-2*float64(depth), name)
		}
		t.span(1, 2, at, 1500, "tick")
	}
}

// oddFunctions writes 200,000 functions with one span each; no two neighbouring spans
// have the same duration.
func oddFunctions(t *oddTrace) {
	const ns = .001
	for tid := 1; tid <= 4; tid++ {
		at := 0.0
		for i := range 10_000 {
			n := (tid-1)*10_000 + i
			whole := 40_000 + n
			function := func(k int) string {
				f := 5*n + k
				return fmt.Sprintf("lib%02d::module_%d::function_%06d", f%37, f%900, f)
			}
			t.span(1, tid, at, float64(whole)*ns, function(0))
			inner := at + 1
			for k := 1; k <= 4; k++ {
				dur := float64(2000*k+t.rng.IntN(2000)) * ns
				t.span(1, tid, inner, dur, function(k))
				inner += dur + 1
			}
			at += float64(whole)*ns + 2
		}
	}
}

// oddNames writes names of 10,000 characters: right-to-left, Chinese, Japanese and
// Korean, and mixed.
func oddNames(t *oddTrace) {
	long := func(s string) string {
		runes := []rune(strings.Repeat(s, 10_000/len([]rune(s))+1))
		return string(runes[:10_000])
	}
	t.name("process", 1, 0, "サーバー · خادم · שרת")
	names := []string{
		long("std::map<std::basic_string<char>, std::vector<unsigned long>>::"),
		"معالجة الطلب الوارد من العميل", long("قراءة الملف "), "קריאת הקובץ (read_file) מהדיסק", long("עיבוד "),
		"请求处理程序::解析表达式", long("数据库查询"), "描画コマンドを発行する()", long("読み込み"), "이미지를 불러오는 중", long("함수 "),
		"render_文字_عربي_עברית<T>", "naïve café ṽ́̈ e\u0301", "👩‍👩‍👧 emoji → ✓ ∑ 𝒙",
		"tab\tnew\nline \u202Ertl override\u202C \x00nul", " ", "ﷺ",
	}
	for i := range 4 {
		t.name("thread", 1, 1+i, names[(5*i+1)%len(names)])
		at := 0.0
		for k := range 3 * len(names) {
			dur := 100 + t.rng.Float64()*900
			t.span(1, 1+i, at, dur, names[(k+i)%len(names)])
			t.span(1, 1+i, at+dur*.05, dur*.9, names[(k*7+i+3)%len(names)])
			at += dur + 5
		}
	}
	t.event(`{"ph":"C","pid":1,"ts":100,"name":%s,"args":{"字节":5}}`, quote("内存使用"))
	t.event(`{"ph":"C","pid":1,"ts":9000,"name":%s,"args":{"字节":50}}`, quote("内存使用"))
	t.event(`{"ph":"i","s":"t","pid":1,"tid":1,"ts":500,"name":%s,"args":{"سبب":"تجربة"}}`, quote(names[1]))
}
