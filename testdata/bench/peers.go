//go:build linux

package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// The peers are programs that anyone can run: two from npm, in these versions, the tools
// that come with Go, and those of a format that are on PATH. The recordings are small enough for them.
const (
	speedscopeVersion = "1.25.0"
	firefoxVersion    = "0.10.0"
	puppeteerVersion  = "24.10.0" // drives Chromium
)

var (
	peerChrome = recording{ext: ".json", options: synthOptions("chrome", 0, 28_000_000)}
	peerFolded = recording{ext: ".folded", options: synthOptions("folded", 60_000, 0)}
	peerPprof  = recording{ext: ".pb.gz", options: synthOptions("pprof", 200_000, 0)}
)

var peerRows = []row{
	{"peers/chrome", func(b *bench) ([]result, error) {
		return b.againstMade(peerChrome, "Chrome JSON", b.speedscope, b.firefox)
	}},
	{"peers/folded", func(b *bench) ([]result, error) { return b.againstMade(peerFolded, "folded stacks", b.speedscope) }},
	{"peers/pprof", func(b *bench) ([]result, error) {
		return b.againstMade(peerPprof, "pprof", b.speedscope, b.goPprof)
	}},
	{"peers/pprof-paths", func(b *bench) ([]result, error) {
		return b.againstMade(pprofPaths, "pprof, 600,000 stacks that share hardly any path", b.goPprof)
	}},
	{"peers/spall", func(b *bench) (out []result, err error) {
		for _, rec := range []recording{spall1, spall3} {
			f, err := b.get(rec)
			if err != nil {
				return out, err
			}
			all, err := b.against(f, fmt.Sprintf("%s, %.0f M spans", rec.options.Kind, float64(f.summary.Spans)/mega), b.toolsOf(f.path)...)
			if out = append(out, all...); err != nil {
				return out, err
			}
		}
		return out, nil
	}},
	{"peers/file", func(b *bench) (out []result, err error) {
		err = eachGiven(b.given, func(name string, f *file) error {
			tools := b.toolsOf(f.path)
			if len(tools) == 0 {
				return nil
			}
			all, err := b.against(f, name, tools...)
			out = append(out, all...)
			return err
		})
		return out, err
	}},
}

// toolsOf returns the programs that can open a file, by its name.
func (b *bench) toolsOf(path string) []peer {
	switch {
	case strings.HasSuffix(path, ".json"):
		return []peer{b.speedscope, b.firefox}
	case strings.HasSuffix(path, ".pb.gz"):
		return []peer{b.speedscope, b.goPprof}
	case strings.HasSuffix(path, ".trace"):
		return []peer{b.tool("go tool trace -pprof=sync", "go", "tool", "trace", "-pprof=sync")}
	case strings.HasSuffix(path, ".jfr"):
		return []peer{b.tool("jfr summary", "jfr", "summary")}
	case strings.HasSuffix(path, ".pftrace"):
		if _, err := exec.LookPath(traceProcessor); err == nil { // not available as a package
			return []peer{b.traceProcessor}
		}
	case strings.HasSuffix(path, ".spall"):
		if _, err := exec.LookPath(spallNative); err == nil { // not available as a package
			return []peer{b.tool(spallNative+"-native, loader alone", spallNative, "--terminal-mode")}
		}
	case strings.HasSuffix(path, ".data"):
		return []peer{b.tool("perf report", "perf", "report", "-f", "--stdio", "--no-children", "-g", "none", "-i")}
	}
	return nil
}

// Time limits for a peer. One that takes longer than peerOnce is run only once.
const (
	peerPatience = 2 * time.Minute
	peerOnce     = 15 // seconds
)

// compared holds the time that a program took to answer a question about a file.
type compared struct {
	Program string  `json:"program"`
	File    string  `json:"file"`
	Seconds float64 `json:"seconds"`
	Own     int64   `json:"own_bytes"`
	Bytes   int64   `json:"bytes,omitempty"` // size of the file, in tables that show it
	Failed  bool    `json:"failed,omitempty"`
}

// peer runs another program once on a file.
type peer func(f *file) (name string, r run, err error)

func (b *bench) againstMade(rec recording, what string, peers ...peer) ([]result, error) {
	f, err := b.get(rec)
	if err != nil {
		return nil, err
	}
	return b.against(f, what, peers...)
}

// against measures the peers, and ashlar, on a file.
func (b *bench) against(f *file, what string, peers ...peer) ([]result, error) {
	if err := f.warm(); err != nil {
		return nil, err
	}
	what += ", " + size(f.bytes)
	ashlar := func(f *file) (string, run, error) {
		r, err := b.tree(exec.Command(b.program, "top", "--json", "--no-cache", "-n", "1", f.path))
		return "ashlar top", r, err
	}
	var out []result
	for _, p := range append([]peer{ashlar}, peers...) {
		x := result{What: what}
		for range min(b.runs, 3) {
			b.quiet()
			name, r, err := p(f)
			x.What = name + ": " + what
			if err != nil {
				x.Measured, x.Peer = "failed: "+err.Error(), &compared{Program: name, File: what, Failed: true}
				break
			}
			x.Runs = append(x.Runs, r)
			if x.Value == 0 || r.Seconds < x.Value {
				x.Value, x.Peer = r.Seconds, &compared{Program: name, File: what, Seconds: r.Seconds, Own: r.Own}
				x.Measured = fmt.Sprintf("%.2f s, %.0f MB", r.Seconds, float64(r.Own)/mega)
				x.Note = fmt.Sprintf("others %.0f %%", 100*r.Others)
			}
			if r.Seconds > peerOnce {
				break
			}
		}
		out = append(out, x)
	}
	return out, nil
}

// tree runs a program and measures the memory of all its processes together, without
// mapped files.
func (b *bench) tree(cmd *exec.Cmd) (run, error) {
	ended, most := make(chan struct{}), make(chan int64)
	go watch(30*time.Millisecond, ended, most, func() (held int64) {
		if cmd.Process != nil {
			held = familyMemory(cmd.Process.Pid)
		}
		return held
	})
	r, err := executeWithin(cmp.Or(b.within, peerPatience), cmd)
	close(ended)
	r.Own = max(r.Own, <-most)
	return r, err
}

// familyMemory returns the total memory of a process and its descendants.
func familyMemory(root int) (sum int64) {
	for _, pid := range family(root) {
		sum += kilobytes(fmt.Sprintf("/proc/%d/status", pid), "RssAnon")
	}
	return sum
}

// family returns a process and its descendants.
func family(root int) (all []int) {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		// The name, in brackets, may hold anything.
		s := string(text)
		after := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
		pid, _ := strconv.Atoi(s[:strings.IndexByte(s, ' ')])
		if len(after) > 1 {
			parent, _ := strconv.Atoi(after[1])
			children[parent] = append(children[parent], pid)
		}
	}
	all = []int{root}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}

// install installs the peers from npm into the folder of the recordings, once.
func (b *bench) install() error {
	versions := strings.Join([]string{"speedscope@" + speedscopeVersion, "@firefox-devtools/profiler-cli@" + firefoxVersion, "puppeteer-core@" + puppeteerVersion}, " ")
	done := filepath.Join(b.peerDir, "installed")
	if text, err := os.ReadFile(done); err == nil && string(text) == versions {
		return nil
	}
	if err := os.MkdirAll(b.peerDir, 0o755); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "installing %s in %s\n", versions, b.peerDir)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", append([]string{"install", "--no-save", "--no-audit", "--no-fund", "--prefix", b.peerDir}, strings.Fields(versions)...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm, of which Debian's package npm has one: %w\n%s", err, out)
	}
	return os.WriteFile(done, []byte(versions), 0o644)
}

// speedscopeScript opens speedscope in a browser and waits until the page title is the
// profile's name, which speedscope sets once the profile is displayed.
const speedscopeScript = `
const puppeteer = require('puppeteer-core');
(async () => {
  const [chromium, url, limit] = process.argv.slice(2);
  const browser = await puppeteer.launch({executablePath: chromium, headless: true, protocolTimeout: +limit,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--js-flags=--max-old-space-size=8192']});
  const page = await browser.newPage();
  let crashed = new Promise((_, no) => page.on('error', no));
  const began = Date.now();
  await Promise.race([crashed, (async () => {
    await page.goto(url, {timeout: +limit});
    await page.waitForFunction(() => document.title !== 'speedscope' && document.title !== '', {timeout: +limit, polling: 50});
  })()]);
  console.log(Date.now() - began);
  await browser.close();
})().catch(e => { console.error(String(e)); process.exit(1); });
`

// speedscope measures the time from its start page to the profile in headless Chromium,
// not counting the browser's start.
func (b *bench) speedscope(f *file) (string, run, error) {
	const name = "speedscope " + speedscopeVersion
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		return name, run{}, fmt.Errorf("chromium is missing: install the package chromium")
	}
	if err := b.install(); err != nil {
		return name, run{}, err
	}
	script := filepath.Join(b.peerDir, "open.js")
	if err := os.WriteFile(script, []byte(speedscopeScript), 0o644); err != nil {
		return name, run{}, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return name, run{}, err
	}
	defer l.Close()
	served := http.NewServeMux()
	served.Handle("/", http.FileServer(http.Dir(filepath.Join(b.peerDir, "node_modules", "speedscope", "dist", "release"))))
	served.HandleFunc("/profile/", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, f.path) })
	go http.Serve(l, served)
	url := fmt.Sprintf("http://%s/index.html#profileURL=/profile/%s", l.Addr(), filepath.Base(f.path))
	r, err := b.tree(exec.Command("node", script, chromium, url, strconv.FormatInt(peerPatience.Milliseconds(), 10)))
	if err != nil {
		return name, r, err
	}
	ms, err := strconv.ParseFloat(strings.TrimSpace(r.Text), 64)
	r.Seconds = ms / 1000
	return name, r, err
}

// firefox measures the Firefox Profiler's command line: loading and stopping.
func (b *bench) firefox(f *file) (string, run, error) {
	const name = "Firefox Profiler CLI " + firefoxVersion
	if err := b.install(); err != nil {
		return name, run{}, err
	}
	// The profile is read by a daemon, which is made a child of the measured process.
	cli := filepath.Join(b.peerDir, "node_modules", ".bin", "profiler-cli")
	// On a busy machine the client gives up before the daemon is ready, so retry.
	sh := fmt.Sprintf("for i in 1 2 3 4 5; do %q load %q && break; sleep 1; done; %q profile info >/dev/null; s=$?; %q stop --all >/dev/null; exit $s", cli, f.path, cli, cli)
	cmd := exec.Command("sh", "-c", sh)
	r, err := b.daemon(cmd)
	return name, r, err
}

// daemon runs a program that leaves other processes behind and measures the memory of all
// node processes while it runs.
func (b *bench) daemon(cmd *exec.Cmd) (run, error) {
	ended, most := make(chan struct{}), make(chan int64)
	before := nodeMemory()
	go watch(30*time.Millisecond, ended, most, func() int64 { return nodeMemory() - before })
	r, err := executeWithin(peerPatience, cmd)
	close(ended)
	r.Own = <-most
	return r, err
}

func nodeMemory() (sum int64) {
	all, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, exe := range all {
		if to, err := os.Readlink(exe); err == nil && filepath.Base(to) == "node" {
			sum += kilobytes(filepath.Join(filepath.Dir(exe), "status"), "RssAnon")
		}
	}
	return sum
}

// mostPeer is the memory limit of a tool, in bytes: some tools use a hundred times the
// size of a 1 GB recording, and the machine would stall.
const mostPeer = "16000000000"

// tool measures a program that takes the file as its last argument.
func (b *bench) tool(title string, command ...string) peer {
	return func(f *file) (string, run, error) {
		args := append([]string{"--as=" + mostPeer}, command...)
		r, err := b.tree(exec.Command("prlimit", append(args, f.path)...))
		return title, r, err
	}
}

// The programs that are not available as packages are measured if they are on PATH.
const (
	traceProcessor = "trace_processor_shell"
	spallNative    = "spall" // built without checks of bounds, as its build.sh release does
)

// traceProcessor measures Perfetto's own tool until it has the sums of slices by name.
func (b *bench) traceProcessor(f *file) (string, run, error) {
	version, err := exec.Command(traceProcessor, "--version").Output()
	if err != nil {
		return traceProcessor, run{}, err
	}
	first, _, _ := strings.Cut(string(version), "\n")
	first, _, _ = strings.Cut(strings.TrimPrefix(first, "Perfetto "), " ")
	return b.tool(traceProcessor+" "+first, traceProcessor, "-Q",
		"SELECT name, count(*), sum(dur) FROM slice GROUP BY name ORDER BY 3 DESC LIMIT 30")(f)
}

// goPprof measures the tool that comes with Go.
func (b *bench) goPprof(f *file) (string, run, error) {
	r, err := b.tree(exec.Command("go", "tool", "pprof", "-top", "-nodecount", "10", f.path))
	return "go tool pprof -top, " + cmp.Or(thisMachine().Go, "Go"), r, err
}
