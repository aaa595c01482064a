package claims_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	stdhtml "html"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"

	"ashlar/app/command"
	"ashlar/testdata/names"
	"ashlar/testdata/rounds"
)

// hostile writes a trace whose functions, threads and arguments have names that HTML, Markdown
// or a shell would treat as code.
func hostile(t *testing.T, dir string) string {
	t.Helper()
	type event map[string]any
	events := []event{}
	for i, name := range names.Code {
		events = append(events,
			event{"ph": "M", "name": "thread_name", "pid": 1, "tid": i, "args": event{"name": name}},
			event{"ph": "X", "name": name, "cat": name, "pid": 1, "tid": i, "ts": i, "dur": 100 + i, "args": event{name: name}})
	}
	b, err := json.Marshal(map[string]any{"traceEvents": events})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "a\"onload=x <b>``&.json")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

var active = regexp.MustCompile(`(?i)<\s*(script|iframe|object|embed|svg|img[^>]+src="[^"]*:)|<[^>]*\son\w+\s*=|(href|src)\s*=\s*["']?\s*(javascript|data|vbscript):`)

// TestNamesAreNoCode checks that names from a recording are plain text in pages, pictures and
// tables.
func TestNamesAreNoCode(t *testing.T) {
	dir := t.TempDir()
	path := hostile(t, dir)
	page := filepath.Join(dir, "report.html")
	if code, _, remarks := run("report", path, "-o", page, "-n", "50"); code != command.Done {
		t.Fatal(remarks)
	}
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if m := active.Find(bytes.ReplaceAll(html, []byte(`<img src="report.png"`), nil)); m != nil {
		t.Errorf("the page has %s", m)
	}
	for _, view := range []string{"both", "flame", "timeline", "functions", "calls"} {
		picture := filepath.Join(dir, view+".svg")
		if code, _, remarks := run("render", path, "-o", picture, "--view", view, "--size", "900x600"); code != command.Done {
			t.Errorf("%s: %s", view, remarks)
			continue
		}
		b, err := os.ReadFile(picture)
		if err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(bytes.NewReader(b))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Errorf("%s is no XML: %v", view, err)
				break
			}
			if e, ok := token.(xml.StartElement); ok {
				if strings.EqualFold(e.Name.Local, "script") || strings.EqualFold(e.Name.Local, "foreignObject") {
					t.Errorf("%s has a <%s>", view, e.Name.Local)
				}
				for _, a := range e.Attr {
					if strings.HasPrefix(strings.ToLower(a.Name.Local), "on") || strings.EqualFold(a.Name.Local, "href") {
						t.Errorf("%s has the attribute %s", view, a.Name.Local)
					}
				}
			}
		}
	}
	for _, args := range [][]string{{"calls", path, names.Code[0], "--csv"}, {"calls", path, "=1+1", "--csv"}, {"path", path, "--csv"}} {
		code, out, remarks := run(args...)
		if code != command.Done {
			t.Errorf("%v: %s", args, remarks)
			continue
		}
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		if err != nil || len(rows) < 2 {
			t.Errorf("%v: %d rows: %v", args, len(rows), err)
		}
		for _, row := range rows {
			for _, cell := range row {
				if cell != "" && strings.ContainsRune("=+@\t\r", rune(cell[0])) || strings.HasPrefix(cell, "-") && strings.Trim(cell, "-0123456789.") != "" {
					t.Errorf("%v has the formula %q", args, cell)
				}
			}
		}
	}
}

// TestReportsSayDamage checks that a report lists problems of its recordings that affect its
// numbers.
func TestReportsSayDamage(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, want string }{
		"bad.folded": {"main;work 5\nno stack at all\nmain 2\n", "Problems in bad.folded: Line 2 is not a stack (frames with ';' between them, a space and a count) and was left out. `ashlar check bad.folded` lists them."},
		"overlap.json": {`[{"name":"a","ph":"X","ts":0,"dur":10,"pid":1,"tid":1},{"name":"b","ph":"X","ts":5,"dur":10,"pid":1,"tid":1}]`,
			"Problems in overlap.json: Spans of a thread partly overlap: sums count 5 µs more than once. `ashlar check overlap.json` lists them."},
		"big.out":      {"version: 1\nevents: Ir\nfl=a.c\nfn=main\n1 9000000000000000000\n2 9000000000000000000\n", "The sum of `cost/Ir` exceeds 64 bits and is limited to that: the numbers here are lower bounds."},
		"sound.folded": {"a;b 5\n", ""},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Chdir(dir)
		for _, args := range [][]string{{"report", name, "-o", "-"}, {"report", name, name, "-o", "-"}} {
			code, out, remarks := run(args...)
			if len(args) > 4 && name == "big.out" {
				continue // too large to compare
			}
			if code != command.Done || !strings.Contains(out, c.want) || strings.Contains(out, "Problems") != strings.HasPrefix(c.want, "Problems") && c.want == "" {
				t.Errorf("%s: %d %s%s", name, code, out, remarks)
			}
		}
	}
}

// TestReportsOfHostileNames checks that names of files and functions are plain text in a
// report, that its claims can still be checked, and that its picture is found.
func TestReportsOfHostileNames(t *testing.T) {
	t.Chdir(t.TempDir())
	names := []string{`\<img title=x>`, `\[x](https:example)`, `\![x](https:example)`, "a`b``c```<img title=x>", "``` ", "- a", "1. a", "> a", "# a", "~~~", "&lt;b&gt;", `\`, "(a) b)", "50%25", "a:b"}
	for i, name := range names[:rounds.Size(len(names), 2)] {
		var events [2][]map[string]any
		for k := range 400 {
			for side := range events {
				events[side] = append(events[side], map[string]any{"ph": "X", "name": name, "pid": 1, "tid": 1, "ts": k * 1000, "dur": 100 + side*100 + k%7})
			}
		}
		files := []string{"a " + strings.ReplaceAll(name, "/", "") + ".json", "b.json"}
		for side, file := range files {
			b, err := json.Marshal(events[side])
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for n := 1; n <= 2; n++ {
			out := fmt.Sprintf("%d %s", i, strings.ReplaceAll(name, "/", ""))
			for _, ext := range []string{".md", ".html"} {
				if code, _, remarks := run(append(append([]string{"report"}, files[:n]...), "-o", out+ext, "--force")...); code != command.Done {
					t.Fatalf("%q: %s", name, remarks)
				}
			}
			text, err := os.ReadFile(out + ".md")
			if err != nil {
				t.Fatal(err)
			}
			if code, found, remarks := run("check-claims", out+".md"); code != command.Done {
				t.Errorf("%q: %s%s", name, found, remarks)
			}
			var page strings.Builder
			if err := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe())).Convert(text, &page); err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`<[!/]?[a-z-]+[^>]*>`).FindAllString(page.String(), -1) {
				if !slices.Contains([]string{"<p>", "</p>", "<h1>", "</h1>", "<h2>", "</h2>", "<ol>", "</ol>", "<ul>", "</ul>", "<li>", "</li>", "<code>", "</code>", "<strong>", "</strong>"}, m) && !strings.HasPrefix(m, "<img src=") {
					t.Errorf("%q makes %s", name, m)
				}
			}
			pictures := regexp.MustCompile(`<img src="([^"]*)"`).FindAllStringSubmatch(page.String(), -1)
			if len(pictures) != 1 {
				t.Fatalf("%q: %d pictures", name, len(pictures))
			}
			u, err := url.Parse(pictures[0][1])
			if err != nil || u.Scheme != "" || u.Path != out+".png" {
				t.Errorf("%q: the picture is %q", name, pictures[0][1])
			}
			if n == 2 && !strings.Contains(page.String(), "<p>"+stdhtml.EscapeString(name)) {
				t.Errorf("%q is not in the verdict: %.300s", name, page.String())
			}
		}
	}
}
