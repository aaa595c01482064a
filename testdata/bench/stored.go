//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"ashlar/testdata/group"
)

// atOnce is the longest time, in seconds, that a command may take on a recording in the
// cache.
const atOnce = 0.1

// askKept reads a recording once so that it is kept, and returns a function that runs a
// command on it several times, the quickest first; home holds the cache and its settings.
// The caller removes home.
func (b *bench) askKept(f *file, home string) (ask func(args ...string) ([]run, error), first run, kept int64, err error) {
	if err = f.warm(); err != nil {
		return
	}
	// A separate cache, which also keeps small files and works on a nearly full disk.
	settings := filepath.Join(home, "config", "ashlar", "settings.json")
	if err = os.MkdirAll(filepath.Dir(settings), 0o755); err != nil {
		return
	}
	if err = os.WriteFile(settings, []byte(`{"cache":{"least_mb":1,"least_free_percent":-1}}`), 0o644); err != nil {
		return
	}
	once := func(args ...string) (run, error) {
		b.quiet()
		cmd := exec.Command(b.program, args...)
		cmd.Env = append(os.Environ(), inHome(home)...)
		return execute(cmd)
	}
	ask = func(args ...string) (all []run, err error) {
		for range b.runs {
			r, err := once(args...)
			if err != nil {
				return nil, err
			}
			if all = append(all, r); r.Seconds < all[0].Seconds {
				last := len(all) - 1
				all[0], all[last] = all[last], all[0]
			}
		}
		return all, nil
	}
	if first, err = once("info", "--json", f.path); err != nil {
		return
	}
	files, _ := filepath.Glob(filepath.Join(home, "cache", "ashlar", "recordings", "*.ashlar"))
	for _, path := range files {
		if info, err := os.Stat(path); err == nil {
			kept += info.Size()
		}
	}
	if kept == 0 {
		err = errors.New("nothing was kept of " + f.path)
	}
	return
}

// againPaths measures commands on a kept recording with nearly as many call paths as spans.
// Each must take at most 1 s and, except for info, at most three times as long as another
// command.
func (b *bench) againPaths() ([]result, error) {
	f, err := b.get(chromePaths)
	if err != nil {
		return nil, err
	}
	home := filepath.Join(b.temp, "again-paths")
	defer os.RemoveAll(home)
	ask, _, kept, err := b.askKept(f, home)
	if err != nil {
		return nil, err
	}
	const times, most = 3, 1.0
	took := map[string]float64{}
	var out []result
	for _, c := range []struct {
		of   string // the command whose time counts
		args []string
	}{{"", []string{"info", "--json", f.path}}, {"info", []string{"top", "-n", "20", f.path}}, {"info", []string{"overview", f.path}}, {"info", []string{"findings", f.path}}, {"top", []string{"diff", f.path, f.path}}} {
		all, err := ask(c.args...)
		if err != nil {
			return out, err
		}
		took[c.args[0]] = all[0].Seconds
		x := result{
			What:     fmt.Sprintf("%s again, Chrome JSON with %.1f M call paths", c.args[0], float64(f.summary.Paths)/mega),
			Target:   fmt.Sprintf("%.0f s", most),
			Value:    all[0].Seconds,
			Pass:     all[0].Seconds <= most,
			Measured: fmt.Sprintf("%.2f s, %.0f MB of memory", all[0].Seconds, float64(all[0].Peak)/mega),
			Note:     fmt.Sprintf("%s; %.0f MB kept", quietly(all[0]), float64(kept)/mega), Runs: all,
		}
		if c.of != "" {
			x.Target += fmt.Sprintf(", and %d times %s", times, c.of)
			x.Pass = x.Pass && all[0].Seconds <= times*took[c.of]
		}
		out = append(out, x)
	}
	return out, nil
}

// again measures commands on a file whose recording was kept when it was first read.
func (b *bench) again() ([]result, error) {
	f, err := b.get(chrome)
	if err != nil {
		return nil, err
	}
	home := filepath.Join(b.temp, "again")
	defer os.RemoveAll(home)
	ask, first, kept, err := b.askKept(f, home)
	if err != nil {
		return nil, err
	}
	var out []result
	for _, args := range [][]string{{"info", "--json", f.path}, {"top", "-n", "20", f.path}, {"diff", f.path, f.path}} {
		all, err := ask(args...)
		if err != nil {
			return out, err
		}
		if args[0] == "info" {
			if err := f.same(all[0]); err != nil {
				return out, err
			}
		}
		out = append(out, result{
			What:   fmt.Sprintf("%s again, Chrome JSON of %.2f GB", args[0], float64(f.bytes)/1e9),
			Target: fmt.Sprintf("%.0f ms", 1000*atOnce), Value: 1000 * all[0].Seconds, Pass: all[0].Seconds <= atOnce,
			Measured: fmt.Sprintf("%.0f ms", 1000*all[0].Seconds),
			Note:     fmt.Sprintf("%s; %.2f s the first time, %.0f MB kept", quietly(all[0]), first.Seconds, float64(kept)/mega), Runs: all,
		})
	}
	d, err := b.screen()
	if err != nil {
		return out, err
	}
	p, err := b.pictures(d, f, home)
	return append(out, result{
		What:   fmt.Sprintf("a window again, Chrome JSON of %.2f GB, until all is shown", float64(f.bytes)/1e9),
		Target: fmt.Sprintf("%.0f ms", 1000*atOnce), Value: p.All, Pass: p.All <= 1000*atOnce,
		Measured: fmt.Sprintf("%.0f ms", p.All), Note: fmt.Sprintf("the window itself at %.0f ms", p.Window),
	}), err
}

// inHome returns the environment variables that put settings and caches into a folder.
func inHome(home string) []string {
	var all []string
	for _, what := range []string{"config", "cache", "data"} {
		all = append(all, "XDG_"+strings.ToUpper(what)+"_HOME="+filepath.Join(home, what))
	}
	return all
}

// same checks that info found the spans that were written.
func (f *file) same(r run) error {
	var info struct{ Counts struct{ Spans int64 } }
	if err := json.Unmarshal([]byte(r.Text), &info); err != nil {
		return err
	}
	if info.Counts.Spans != f.summary.Spans {
		return fmt.Errorf("%s: read %d spans, not %d", f.path, info.Counts.Spans, f.summary.Spans)
	}
	return nil
}

// leastGroup is the minimum memory, in bytes, that larger allows the program.
const leastGroup = 150 << 20

// larger measures reading a whole recording whose columns do not fit into memory: in a
// control group with a fifth of the file's size.
func (b *bench) larger() ([]result, error) {
	f, err := b.get(spall1)
	if err != nil {
		return nil, err
	}
	all, err := b.load(f)
	if err != nil {
		return nil, err
	}
	limit := max(leastGroup, f.bytes/5)
	folder, err := group.Make(limit)
	if err != nil {
		return nil, err
	}
	defer os.Remove(folder)
	b.quiet()
	// The shell joins the group, then becomes the program.
	r, err := execute(exec.Command("sh", "-c", `echo $$ >"$0" && exec "$@"`, filepath.Join(folder, "cgroup.procs"), b.program, "info", "--json", "--no-cache", f.path))
	if err != nil {
		return nil, err
	}
	if err := f.same(r); err != nil {
		return nil, err
	}
	return []result{{
		What:   fmt.Sprintf("spall v1 of %.2f GB in a control group of %.0f MB", float64(f.bytes)/1e9, float64(limit)/mega),
		Target: "whole", Value: r.Seconds, Pass: true,
		Measured: fmt.Sprintf("%d spans in %.1f s, %.0f MB of its own", f.summary.Spans, r.Seconds, float64(r.Own)/mega),
		Note:     fmt.Sprintf("%s; %.1f s without a limit", quietly(r), all[0].Seconds), Runs: []run{r},
	}}, nil
}
