package difference_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"

	"ashlar/app/command"
	"ashlar/app/command/difference"
)

// hostile are function names that are special in Markdown, in HTML, or on sites that show
// comments.
var hostile = []string{
	"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "a|b|c", `a\|b`, "``` x", "`code` and `` more ``", "**bold** _under_", "[link](javascript:alert(1))", "![p](http://x.invalid/p.png)",
	"@someone", "#1 closes #2", "http://x.invalid", "www.x.invalid", "</details><h1>x", "&lt;b&gt;", "<!-- ashlar", "-->", "  ", "\\", "\\`", "| --- |", "operator||", "$math$", "~~gone~~", "x<br>y", strings.Repeat("long", 400),
}

func folded(t *testing.T, name string, weight func(i int) int, names []string) string {
	t.Helper()
	var b strings.Builder
	for i, n := range names {
		fmt.Fprintf(&b, "main;%s %d\n", strings.ReplaceAll(n, ";", ":"), weight(i))
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func markdown(t *testing.T, want int, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := command.Main(append([]string{"diff", "--markdown"}, args...), nil, &out, &errs, command.Runner{}); code != want {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	return out.String()
}

// page renders a comment as sites do, with tables and automatic links, but keeps HTML tags so
// that the test can find them.
func page(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe())).Convert([]byte(text), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var tag = regexp.MustCompile(`</?([a-zA-Z0-9]+)[^>]*>|<!--.*?-->`)

// TestMarkdownOfHostileNames checks that hostile names cannot change the structure of a
// comment: it has the verdict, tables of six columns and one folded part.
func TestMarkdownOfHostileNames(t *testing.T) {
	a := folded(t, "a`b|c.folded", func(i int) int { return 100 + i }, hostile)
	b := folded(t, "<b>.folded", func(i int) int { return 100 + 40*(len(hostile)-i) }, hostile)
	for range 2 {
		text := markdown(t, command.Done, a, b)
		html := page(t, text)
		allowed := map[string]bool{"p": true, "strong": true, "code": true, "pre": true, "table": true, "thead": true, "tbody": true, "tr": true, "th": true, "td": true, "details": true, "summary": true}
		for _, m := range tag.FindAllStringSubmatch(html, -1) {
			if m[1] != "" && !allowed[m[1]] {
				t.Errorf("there is a tag %s in\n%s", m[0], html)
			}
		}
		if n := strings.Count(html, "<details>"); n != 1 || strings.Count(html, "</details>") != 1 {
			t.Errorf("there are %d folds", n)
		}
		if rows := strings.Split(html, "<tr>"); len(rows) < len(hostile) {
			t.Errorf("there are %d rows", len(rows))
		} else {
			for _, r := range rows[1:] {
				if n := strings.Count(r, "</td>") + strings.Count(r, "</th>"); n != 6 {
					t.Errorf("a row has %d cells: %s", n, r)
				}
			}
		}
		// Outside code there are no mentions and no links.
		outside := tag.ReplaceAllString(regexp.MustCompile(`(?s)<code>.*?</code>`).ReplaceAllString(html, ""), "\x00")
		if regexp.MustCompile(`(^|[^\x00])[@#]\w|https?://|www\.`).MatchString(outside) {
			t.Errorf("a name is not code: %q", outside)
		}
		a, b = b, a
	}
}

// TestMarkdownIsBounded checks that a comment on many functions stays within the size limit
// and says how many rows are missing, and that it lists conditions that hold.
func TestMarkdownIsBounded(t *testing.T) {
	var names []string
	for i := range 3000 {
		names = append(names, fmt.Sprintf("package.function%d%s", i, strings.Repeat("x", 60)))
	}
	a, b := folded(t, "a.folded", func(i int) int { return 10 + i }, names), folded(t, "b.folded", func(i int) int { return 10 + 2*i }, names)
	text := markdown(t, command.Done, a, b, "-n", "0")
	if len(text) > difference.MostMarkdown || len(text) < difference.MostMarkdown/2 || !strings.Contains(text, "more rows not listed") || !strings.HasPrefix(text, difference.Marker) || !strings.HasSuffix(text, "</details>\n") {
		t.Errorf("%d bytes: %s … %s", len(text), text[:200], text[len(text)-200:])
	}
	failed := markdown(t, command.Failed, a, b, "--fail-if", "total>1%")
	if !strings.Contains(failed, "\n- Condition failed: `total>1%: ") {
		t.Error(failed)
	}
	if same := markdown(t, command.Done, a, folded(t, "c.folded", func(i int) int { return 10 + i }, names)); !strings.Contains(same, "No differences") {
		t.Error(same)
	}
}
