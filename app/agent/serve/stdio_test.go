//go:build linux

package serve_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"ashlar/app/command"
	"ashlar/app/core/cache"
	appstore "ashlar/app/core/settings"
	"ashlar/ingest"
	"ashlar/ingest/model/recording"
)

// stand is a script that replaces ssh. It logs its arguments, knows two hosts, and runs the
// command in a local shell, in the folder that serves as the home of both hosts.
const stand = `#!/bin/sh
echo "$*" >> "$SSH_ASKED"
while [ "$1" != -- ]; do shift; done
case $2 in
there | me@other) ;;
*) echo "Warning: something" >&2; echo "ssh: Could not resolve hostname $2" >&2; exit 255 ;;
esac
echo Welcome to "$2"
cd "$SSH_HOME" && HOME=$SSH_HOME exec sh -c "$3"
`

// hosts puts stand into PATH as ssh, with two hosts on which ashlar is this test program. home
// is the hosts' home folder, asked returns the log of ssh calls, and install replaces the
// hosts' ashlar by a script.
func hosts(t *testing.T) (home string, asked func() string, install func(script string)) {
	t.Helper()
	dir, home := t.TempDir(), t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+strings.TrimPrefix(text, "#!/bin/sh\n")), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(dir, "ssh"), stand)
	install = func(script string) { write(filepath.Join(dir, "ashlar"), script) }
	install(fmt.Sprintf("%s=1 exec '%s' \"$@\"\n", helper, program))
	log := filepath.Join(dir, "asked")
	t.Setenv("SSH_ASKED", log)
	t.Setenv("SSH_HOME", home)
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return home, func() string {
		b, _ := os.ReadFile(log)
		return string(b)
	}, install
}

// said runs a command in this process and returns its output, errors and exit code.
func said(args ...string) string {
	var out, errs bytes.Buffer
	code := command.Main(args, nil, &out, &errs, runner)
	return fmt.Sprintf("%s%s%d", out.String(), errs.String(), code)
}

// addressed matches addresses in output. The address of a local file also contains a digest of
// its content.
var addressed = regexp.MustCompile(`"address": "[^"]*"`)

// awkward is a file name with characters that are special in shells, options and URLs.
const awkward = `it's a "$(touch x)" -n 50%25 run.folded`

// manyStacks returns a recording large enough to be cached.
func manyStacks() string {
	var b strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&b, "main;work;step%d %d\n", i%700, i+1)
	}
	return b.String()
}

// TestOtherMachine checks that a command on a remote file runs on that machine and has the
// same output except for the file's name, that pictures are transferred, and that a comparison
// of files on two machines runs here.
func TestOtherMachine(t *testing.T) {
	home, asked, _ := hosts(t)
	t.Chdir(home)
	here := filepath.Join(home, awkward)
	for _, path := range []string{here, filepath.Join(home, "second.folded")} {
		if err := os.WriteFile(path, []byte(manyStacks()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"top", here, "-n", "5"}, {"top", here, "--tree", "--budget", "300"}, {"overview", here}, {"check", here}, {"findings", here},
		{"diff", here, here}, {"top", here, "--focus", "step7", "--json"}, {"top", here, "--metric", "none"}, {"calls", here, "/x/"},
	} {
		want := said(args...)
		far := make([]string, len(args))
		for i, a := range args {
			far[i] = strings.Replace(a, here, "ssh:there:"+here, 1)
		}
		got := said(far...)
		if strings.Contains(want, `"address"`) {
			got, want = addressed.ReplaceAllString(got, ""), addressed.ReplaceAllString(want, "")
		}
		if args[0] != "check" && !strings.Contains(got, "ssh:there:") && strings.Contains(want, home) {
			t.Errorf("%q: it is not called ssh:there: in\n%s", far, got)
		}
		if got = strings.ReplaceAll(got, "ssh:there:", ""); got != want {
			t.Errorf("%q over ssh:\n%s\nhere:\n%s", far, got, want)
		}
	}
	if n := strings.Count(asked(), "\n"); n > 11 {
		t.Errorf("ssh was run %d times:\n%s", n, asked())
	}
	for line := range strings.Lines(asked()) {
		if !strings.HasPrefix(line, "-T -oBatchMode=yes -oConnectTimeout=15 -- there exec sh -c '") || strings.Contains(line, "run.folded") {
			t.Errorf("ssh was asked %s", line)
		}
	}
	if _, err := os.Stat("x"); err == nil {
		t.Error("the name of a file was run")
	}
	// A path relative to the home folder, another user, and files on two machines.
	if got := said("top", "ssh:me@other:second.folded", "-n", "1"); !strings.Contains(got, "second.folded") || !strings.HasSuffix(got, "0") {
		t.Error(got)
	}
	if got := said("diff", "ssh:there:second.folded", "ssh:me@other:second.folded"); !strings.Contains(got, "unchanged (") {
		t.Error(got)
	}
	out := filepath.Join(t.TempDir(), "x.png")
	if got := said("render", "ssh:there:"+here, "-o", out, "--size", "600x400"); got != "0" {
		t.Errorf("render: %s", got)
	}
	if b, _ := os.ReadFile(out); !bytes.HasPrefix(b, []byte("\x89PNG")) {
		t.Error("no picture came")
	}
}

// TestRecordingsOfOtherMachines checks that a remote recording is read on its machine with the
// same result as here, in whole or in part, and transferred again only if the file changes.
func TestRecordingsOfOtherMachines(t *testing.T) {
	home, asked, _ := hosts(t)
	path := filepath.Join(home, awkward)
	write := func(text string, age time.Duration) {
		t.Helper()
		then := time.Now().Add(-age) // a recently written file counts as still changing
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o644), os.Chtimes(path, then, then)); err != nil {
			t.Fatal(err)
		}
	}
	write(manyStacks(), time.Hour)
	o := ingest.Options{Cache: cache.In(t.TempDir(), appstore.CacheSettings{Least: 1, Free: 1})}
	read := func(name string, o ingest.Options) *recording.Recording {
		t.Helper()
		rec, _, err := ingest.ReadAll(t.Context(), name, o)
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	want := read(path, ingest.Options{})
	// Each read asks for the file's state, and for its content if that is new.
	for i, times := range []int{2, 1, 2} {
		if i == 2 {
			write(manyStacks()+"main;more 100000000\n", time.Minute)
			want = read(path, ingest.Options{})
		}
		before := strings.Count(asked(), "\n")
		got := read("ssh:there:"+awkward, o)
		ran := strings.Count(asked(), "\n") - before
		o.Cache.(*cache.Cache).Wait()
		if fmt.Sprint(got.Counts, got.Events, got.Ledger) != fmt.Sprint(want.Counts, want.Events, want.Ledger) || got.Source.Format != "folded" {
			t.Errorf("%v %v of %s came, want %v %v", got.Counts, got.Events, got.Source.Format, want.Counts, want.Events)
		}
		if ran < times || ran > times+2 || i == 1 && ran != 1 { // storing a new copy may check the file again
			t.Errorf("time %d: ssh was run %d times, want %d", i, ran, times)
		}
		if got.Source.Path != "ssh:there:"+awkward || !strings.HasPrefix(got.Source.Name, "there it's a ") {
			t.Errorf("it is called %s, %s", got.Source.Path, got.Source.Name)
		}
	}
	trace, err := filepath.Abs("../../command/testdata/small.spall")
	if err != nil {
		t.Fatal(err)
	}
	part := ingest.Options{Part: recording.Part{Range: recording.Offsets(0, 1)}}
	a, b := read(trace, part), read("ssh:there:"+trace, part)
	if a.Counts != b.Counts || a.Counts == read(trace, ingest.Options{}).Counts || fmt.Sprint(a.Ledger) != fmt.Sprint(b.Ledger) {
		t.Errorf("the part has %v here and %v there", a.Counts, b.Counts)
	}
}

// TestOtherMachinesFail checks that every failure gives one line with the file, the reason and
// what to do.
func TestOtherMachinesFail(t *testing.T) {
	_, asked, install := hosts(t)
	for name, want := range map[string]string{
		"ssh:gone:/x":             "ssh:gone:/x: ssh cannot connect to gone (ssh: Could not resolve hostname gone)",
		"ssh:there:/none":         "ssh:there:/none: there is no such file",
		"ssh:there":               "incomplete address; write it like ssh:HOST:/path",
		"ssh:there:":              "incomplete address; write it like ssh:HOST:/path/run.pftrace",
		"ssh::/x":                 "incomplete address; write it like ssh:HOST:/path/run.pftrace",
		"ssh:-oProxyCommand=x:/x": "incomplete address; write it like ssh:HOST:/path/run.pftrace",
		"ssh:-x@there:/x":         "incomplete address; write it like ssh:HOST:/path/run.pftrace",
		"ssh:a b:/x":              "incomplete address; write it like ssh:HOST:/path/run.pftrace",
		"ssh:$(x):/x":             "incomplete address; write it like ssh:HOST:/path/run.pftrace",
		"ssh://there/x":           "write it like ssh:there:/x",
	} {
		if got := said("top", name); !strings.Contains(got, want) || !strings.HasSuffix(got, "1") || strings.Count(got, "\n") != 1 {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if strings.Contains(asked(), "Proxy") || strings.Contains(asked(), "$(x)") || strings.Contains(asked(), "-x@") {
		t.Errorf("ssh was asked %s", asked())
	}
	for script, want := range map[string]string{
		"echo 'ashlar: unknown flag: --stdio' >&2; exit 2": "the ashlar on there is too old for ssh (ashlar: unknown flag: --stdio); copy a newer one there",
		"exit 127": "there has no ashlar on its PATH; copy ashlar-cli (one file) there",
		`echo '{"ashlar":"0.1","refused":"keeps \u001b recordings otherwise"}'`: "keeps · recordings otherwise",
		`echo '{"ashlar":"0.1"}'; echo bye >&2; exit 3`:                         "the connection to there was lost (bye)",
		`head -c 300000 /dev/zero`:                                              "is too old",
	} {
		install(script)
		if got := said("convert", "ssh:there:/x", filepath.Join(t.TempDir(), "x.spaa")); !strings.Contains(got, want) || !strings.HasSuffix(got, "1") {
			t.Errorf("%s: %s, want %s", script, got, want)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if got := said("top", "ssh:there:/x"); !strings.Contains(got, "the program ssh cannot be run") {
		t.Error(got)
	}
}
