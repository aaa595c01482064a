package command

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ashlar/ingest"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/calls"
	"ashlar/testdata/samples"
)

// secretTrace is a trace that reveals much about where it was recorded.
const secretTrace = `[{"name":"process_name","ph":"M","pid":1,"args":{"name":"/home/jane/acme/bin/shop --token=hunter22"}},
{"name":"thread_name","ph":"M","pid":1,"tid":1,"args":{"name":"worker db7.acme.internal"}},
{"name":"load https://shop.acme.com/cart/jane?coupon=XMAS","ph":"X","pid":1,"tid":1,"ts":0,"dur":100,"args":{"user":"jane.doe@acme.com","url":"https://shop.acme.com/secret/path","nested":{"card":"4111-1111"}}},
{"name":"render (https://cdn.acme.com/js/cart.js:12:7)","ph":"X","pid":1,"tid":1,"ts":10,"dur":50,"args":{"file":"/home/jane/acme/cart.tmpl"}},
{"name":"read /home/jane/acme/basket.db","ph":"i","s":"t","pid":1,"tid":1,"ts":20,"args":{"query":"select card from purses"}}]`

var absolutePath = regexp.MustCompile(`^(?:[/\\]|[A-Za-z]:)|://`)

var aWord = regexp.MustCompile(`^[A-Za-z_-]+$`)

// anAmount matches a number with a unit, such as "24 bytes".
var anAmount = regexp.MustCompile(`^-?[0-9.]+ [a-z]+$`)

// secrets returns the texts of a recording that reveal its origin: paths, hosts, and values of
// arguments, labels and notes. It finds them independently of the rules under test.
func secrets(rec *recording.Recording) map[string]string {
	all := map[string]string{}
	add := func(what, s string) {
		// Numbers, amounts, and short words that the program itself may print cannot be told apart
		// from secrets.
		if s = strings.TrimSpace(s); len(s) >= 6 && !anAmount.MatchString(s) && strings.Trim(s, "0123456789.-") != "" && (len(s) >= 14 || !aWord.MatchString(s)) {
			all[s] = what
		}
	}
	file := func(what, path string) {
		// A single folder, as in runtime/proc.go, is the name of a package.
		if i := strings.LastIndexAny(path, `/\`); i > 0 && !strings.Contains(path, "://") && strings.ContainsAny(path[:i], `/\`) {
			add(what, path[:i+1])
		}
		if u, err := url.Parse(path); err == nil && u.Host != "" {
			add(what, u.Host)
			if i := strings.LastIndexByte(u.Path, '/'); i > 0 {
				add(what, u.Host+u.Path[:i+1])
			}
		}
	}
	link := regexp.MustCompile(`https?://[^\s"'()<>]+`)
	home := regexp.MustCompile(`(?:/home|/Users|/root|/tmp|/usr|/var|/opt)/[\w./+-]+/`)
	name := func(what, s string) {
		for _, u := range link.FindAllString(s, -1) {
			file(what, u)
		}
		for _, p := range home.FindAllString(s, -1) {
			add(what, p)
		}
	}
	for i := range rec.Functions.Len() {
		f := rec.Functions.At(i)
		file("module", f.Module)
		file("file", f.File)
		name("function", f.Name)
	}
	for i := range rec.Frames.Len() {
		file("file of a frame", rec.Frames.Ref(i).File)
	}
	for i := range rec.Contexts.Len() {
		for _, a := range rec.Contexts.At(i) {
			if a.Key != "comm" && a.Key != "pid" && a.Key != "tid" && a.Key != "cpu" {
				add("label "+a.Key, a.Value)
			}
		}
	}
	for _, n := range rec.Source.Notes {
		add("note "+n.Key, n.Value)
	}
	add("command", rec.Source.Command)
	n := 0
	argument := func(ref uint64) {
		if n++; ref == 0 || rec.Args == nil || n > 20_000 {
			return
		}
		for _, m := range calls.Members(rec.Args(ref)) {
			add("argument "+m.Key, m.Value)
		}
	}
	for _, t := range rec.Tracks {
		name("thread", t.Name)
		for i := range t.Lanes {
			for k := range t.Lanes[i].Len() {
				argument(t.Lanes[i].Args(k))
			}
		}
		for _, x := range t.Instants {
			name("instant", x.Name)
			argument(x.Args)
		}
	}
	for _, p := range rec.Processes {
		name("process", p.Name)
	}
	return all
}

// allTexts selects the texts of a recording's tables that --redact changes.
const allTexts = `SELECT path, command FROM recordings UNION ALL SELECT key, value FROM notes UNION ALL SELECT text, place FROM warnings UNION ALL SELECT file, build_id FROM frames
UNION ALL SELECT module, file FROM functions UNION ALL SELECT name, labels FROM processes UNION ALL SELECT key, value FROM labels UNION ALL SELECT name, args FROM instants
UNION ALL SELECT args, NULL FROM spans`

// kept returns the names that --redact keeps: of functions, threads, events and so on. An
// argument's value that equals such a name is not a secret.
func kept(rec *recording.Recording) string {
	var b strings.Builder
	say := func(all ...string) {
		for _, s := range all {
			b.WriteString(s + "\n")
		}
	}
	last := func(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }
	for i := range rec.Functions.Len() {
		f := rec.Functions.Ref(i)
		say(f.Name, f.Symbol, last(f.Module), last(f.File))
	}
	for i := range rec.Frames.Len() {
		say(last(rec.Frames.Ref(i).File))
	}
	for i := range rec.Source.Mappings {
		say(last(rec.Source.Mappings[i].File)) // like modules
	}
	for _, t := range rec.Tracks {
		say(t.Name)
		for _, x := range t.Instants {
			say(x.Name)
		}
	}
	for _, p := range rec.Processes {
		say(p.Name, p.Labels)
	}
	for i := range rec.Events {
		say(rec.Events[i].Name, rec.Events[i].Mode, rec.Events[i].Kind)
		for _, m := range rec.Events[i].Metrics {
			say(m.Name, m.Unit)
		}
	}
	for _, c := range rec.Counters {
		say(c.Name, c.Series, c.Unit)
	}
	for _, f := range rec.Flows {
		say(f.Name)
	}
	say(rec.Source.Name, rec.Source.Format, rec.Source.Tool, rec.Source.Version, rec.Clock.Unit)
	return b.String()
}

// TestRedacted checks that with --redact no answer and no written file contains a path, a host
// or the value of an argument or label, and that all numbers stay the same. It skips large
// samples, which would take long and test nothing more.
func TestRedacted(t *testing.T) {
	dir := t.TempDir()
	made := filepath.Join(dir, "secret.json")
	if err := os.WriteFile(made, []byte(secretTrace), 0o644); err != nil {
		t.Fatal(err)
	}
	paths := []string{made, labelledProfile(t), "testdata/small.spaa", "testdata/small.spall"}
	if !testing.Short() {
		paths = append(paths, samples.Small(1<<18, samples.Files(t))...)
	}
	held := 0
	for _, path := range paths {
		rec, _, err := ingest.ReadAll(t.Context(), path, ingest.Options{})
		if err != nil || rec.Counts.Functions == 0 {
			continue
		}
		all := secrets(rec)
		if strings.Contains(path, t.TempDir()) || path == made {
			all[filepath.Dir(path)] = "the folder of the file"
		}
		// A text that occurs in a name kept by --redact is not a secret.
		again := run("convert", path, filepath.Join(dir, "same.ashlar"), "--redact", "--force")
		if again.code == Usage {
			t.Fatal(again.stderr)
		}
		stays := ""
		if redacted, _, err := ingest.ReadAll(t.Context(), filepath.Join(dir, "same.ashlar"), ingest.Options{}); err == nil {
			stays = kept(redacted)
		}
		for s := range all {
			if strings.Contains(stays, s) && !absolutePath.MatchString(s) {
				delete(all, s)
			}
		}
		held += len(all)
		hold := func(what, text string) {
			t.Helper()
			for s, from := range all {
				if strings.Contains(text, s) {
					t.Errorf("%s: %s has %q, %s", path, what, s, from)
					return
				}
			}
		}
		for name := range strings.Lines(stays) {
			hold("a name", name)
		}
		for _, args := range [][]string{{"overview"}, {"findings", "--json"}, {"info", "--json"}, {"info"}, {"check"}, {"check", "--json"}, {"top", "--json"}, {"top", "--json", "--by", "module"}, {"top", "--json", "--by", "file"}, {"top", "--by", "thread"}, {"top", "--tree", "--budget", "500"}, {"sql", allTexts, "-n", "0"}} {
			r := ask(append(append([]string{args[0], path}, args[1:]...), "--redact")...)
			if r.code != Done && r.code != Problem && r.code != Usage {
				t.Errorf("%v of %s: %s", args, path, r.stderr)
			}
			hold(strings.Join(args, " "), r.stdout)
		}
		for _, ext := range []string{"spaa", "json", "folded"} {
			out := filepath.Join(dir, "out."+ext)
			if r := run("convert", path, out, "--redact", "--force"); r.code != Done && r.code != Problem && r.code != Usage {
				t.Errorf("%s to %s: %s", path, ext, r.stderr)
			}
			if b, err := os.ReadFile(out); err == nil {
				hold("what is converted to "+ext, string(b))
				os.Remove(out)
			}
		}
		if t.Failed() {
			return
		}
	}
	if held < 12 {
		t.Errorf("only %d secrets were looked for", held)
	}
}

// TestRedactedNumbers checks that totals do not change, that a note says what was left out,
// and that suggested commands reveal no path.
func TestRedactedNumbers(t *testing.T) {
	made := filepath.Join(t.TempDir(), "secret.json")
	if err := os.WriteFile(made, []byte(secretTrace), 0o644); err != nil {
		t.Fatal(err)
	}
	r := run("top", made, "--json", "--redact")
	if !strings.Contains(r.stderr, "left out: ") || !strings.Contains(r.stderr, "of arguments") {
		t.Errorf("it says %q", r.stderr)
	}
	if !strings.Contains(r.stdout, `"redacted": "`) || !strings.Contains(r.stdout, `"file": "secret.json"`) {
		t.Errorf("the answer is %s", r.stdout)
	}
	of := regexp.MustCompile(`"(?:self|total|count)": [0-9.]+`)
	a, b := of.FindAllString(run("top", made, "--json").stdout, -1), of.FindAllString(r.stdout, -1)
	if len(a) < 5 || strings.Join(a, " ") != strings.Join(b, " ") {
		t.Errorf("the numbers are %v, without names %v", a, b)
	}
	bounded := run("top", made, "--redact", "--budget", "200", "--json", "--by", "module")
	if strings.Contains(bounded.stdout, filepath.Dir(made)) {
		t.Errorf("the command of all has the folder: %s", bounded.stdout)
	}
}
