package gotrace

import (
	"bufio"
	"context"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/testdata/samples"
)

// viewer starts Go's own trace viewer and returns a function that fetches its pages.
func viewer(t *testing.T, content []byte) (page func(path string) string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.trace")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(decodetest.GoTool(t, "trace"), "-http=127.0.0.1:0", name)
	cmd.Env = append(os.Environ(), "BROWSER=true") // a command that opens no browser
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for s := bufio.NewScanner(said); s.Scan(); {
		if _, at, ok := strings.Cut(s.Text(), "listening on "); ok {
			go io.Copy(io.Discard, said)
			return func(path string) string { return get(t, at+path) }
		}
	}
	t.Fatal("the viewer ended")
	return nil
}

func get(t *testing.T, url string) string {
	t.Helper()
	got, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil || got.StatusCode != http.StatusOK {
		t.Fatal(url, got.Status, err)
	}
	return string(text)
}

var (
	groupRow = regexp.MustCompile(`(?s)href="/goroutine\?name=[^"]*">([^<]*)</a></code></td>\s*<td>(\d+)</td>\s*<td>([^<]*)</td>`)
	statHead = regexp.MustCompile(`reloadTable\('sortby', '([^']*)'\)`)
	statRow  = regexp.MustCompile(`(?s)<tr>\s*<td> <a href="/trace\?goid=(\d+)">.*?</tr>`)
	statCell = regexp.MustCompile(`<td> (\S+)\s*</td>`)
)

// unnamed is the viewer's name for goroutines whose stacks it does not know.
const unnamed = "(Inactive, no stack trace sampled)"

// columns are the viewer's columns by goroutine state.
var columns = map[recording.State]string{
	recording.Running: "Execution time", recording.Collecting: "Execution time", recording.Runnable: "Sched wait time", recording.InSystemCall: "System calls",
}

// TestGoroutines compares the goroutines of each start function with the pages of Go's own
// viewer: their number, and their time running, runnable, in system calls and blocked, by
// reason.
func TestGoroutines(t *testing.T) {
	compareGoroutines(t, made())
	for _, content := range samples.Each(t, "generated/go.trace") {
		compareGoroutines(t, content)
	}
}

func compareGoroutines(t *testing.T, content []byte) {
	t.Helper()
	page := viewer(t, content)
	r, err := decodeBytes(t, content, 0)
	if err != nil {
		t.Fatal(err)
	}
	want, got := map[string]int64{}, map[string]int64{}
	for _, m := range groupRow.FindAllStringSubmatch(page("/goroutines"), -1) {
		name := html.UnescapeString(m[1])
		n, err := strconv.ParseInt(m[2], 10, 64)
		if err != nil {
			t.Fatal(m)
		}
		want[name+" goroutines"] = n
		cpu := nanoseconds(t, m[3])
		want[name+" cpu"] += cpu
		asked := name
		if name == unnamed {
			asked = ""
		}
		text := page("/goroutine?name=" + url.QueryEscape(asked))
		text, _, _ = strings.Cut(text, `id="ranges"`)
		heads := statHead.FindAllStringSubmatch(text, -1)
		for _, row := range statRow.FindAllStringSubmatch(text, -1) {
			for i, c := range statCell.FindAllStringSubmatch(row[0], -1) {
				column := html.UnescapeString(heads[i][1])
				switch column {
				case "Total time", "Unknown time":
					continue
				case "Syscall execution time", "Block time (syscall)": // with and without a processor
					column = "System calls"
				}
				want["G"+row[1]+" "+column] += nanoseconds(t, c[1])
			}
		}
	}
	for _, tr := range r.Tracks {
		if tr.PID != goroutines || tr.Kind != recording.ThreadTrack {
			continue
		}
		name := tr.Name
		if name == "" {
			name = unnamed
		}
		got[name+" goroutines"]++
		for l, i := &tr.States, 0; i < l.Len(); i++ {
			column := columns[r.State(l.Call(i))]
			if column == "" {
				_, why, _ := strings.Cut(strings.Trim(r.FuncName(l.Call(i)), "[]"), ": ")
				if why == unknown {
					why = "" // as the viewer says
				}
				column = "Block time (" + why + ")"
			}
			got[fmt.Sprint("G", tr.TID, " ", column)] += (l.End(i) - l.Start(i)) / 1000
		}
	}
	rows, err := analyze.ByContext(context.Background(), r, analyze.Query{Metric: recording.StateCPU}, "comm")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		got[strings.Replace(row.Name, "[no comm]", unnamed, 1)+" cpu"] += row.Self / 1000
	}
	none := func(_ string, v int64) bool { return v == 0 }
	maps.DeleteFunc(want, none)
	maps.DeleteFunc(got, none)
	if !maps.Equal(got, want) {
		for k := range want {
			if got[k] != want[k] {
				t.Errorf("%s: %d, want %d", k, got[k], want[k])
			}
		}
		for k := range got {
			if _, ok := want[k]; !ok {
				t.Errorf("%s: %d, want none", k, got[k])
			}
		}
	}
	if len(want) < 20 {
		t.Errorf("the viewer says little: %v", want)
	}
}

// nanoseconds parses a time in the viewer's notation.
func nanoseconds(t *testing.T, text string) int64 {
	t.Helper()
	d, err := time.ParseDuration(html.UnescapeString(text))
	if err != nil {
		t.Fatal(err)
	}
	return d.Nanoseconds()
}
