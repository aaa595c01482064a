package manual

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"ashlar/assets"
)

func TestParse(t *testing.T) {
	got, err := Parse([]byte(`# A title

<!-- not shown -->
Some *running*
text, ` + "`code*`" + ` and [a page](opening.md).

1. first

   more of it
2. second
   - inner

` + "```" + `
a  b

c
` + "```" + `

| key | n |
|---|--:|
| ` + "`a`" + ` | 1 |
| b \| c |
`))
	if err != nil {
		t.Fatal(err)
	}
	plain := func(s string) Text { return Text{{Text: s}} }
	want := []Block{
		{Kind: Heading, Level: 1, Text: plain("A title")},
		{Kind: Paragraph, Text: Text{{Text: "Some "}, {Text: "running", Strong: true}, {Text: " text, "}, {Text: "code*", Code: true}, {Text: " and "}, {Text: "a page", Link: "opening.md"}, {Text: "."}}},
		{Kind: Item, Depth: 1, Mark: "1.", Text: plain("first")},
		{Kind: Paragraph, Depth: 1, Text: plain("more of it")},
		{Kind: Item, Depth: 1, Mark: "2.", Text: plain("second")},
		{Kind: Item, Depth: 2, Mark: "•", Text: plain("inner")},
		{Kind: Code, Lines: []string{"a  b", "", "c"}},
		{Kind: Table, Right: []bool{false, true}, Rows: [][]Text{{plain("key"), plain("n")}, {{{Text: "a", Code: true}}, plain("1")}, {plain("b | c"), nil}}},
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("block %d of\n%+v\nis not that of\n%+v", i, got, want)
		}
	}
}

func TestParseLosesNothing(t *testing.T) {
	for _, markdown := range []string{"> quoted", "![a picture](x.png)", "<b>bold</b>", "<div>\nblock\n</div>", "a\n\n---\n\nb"} {
		if blocks, err := Parse([]byte(markdown)); err == nil {
			t.Errorf("%q became %+v", markdown, blocks)
		}
	}
}

func TestPlain(t *testing.T) {
	blocks, err := Parse([]byte(`# Title

One two three four five, see [the page](opening.md).

- an item that is long
- [x](https://example.org)

| key | what it does |
|---|---|
| a | one two three |

` + "```" + `
a line that is longer than the terminal is wide
` + "```" + `
`))
	if err != nil {
		t.Fatal(err)
	}
	want := `Title
=====

One two three four five,
see the page (ashlar
help opening).

• an item that is long
• x
  (https://example.org)

key  what it does
---  -------------
a    one two three

  a line that is longer than the terminal is wide
`
	if got := Plain(blocks, 24); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	narrow := Plain(blocks[len(blocks)-2:len(blocks)-1], 20)
	for _, line := range strings.Split(narrow, "\n") {
		if utf8.RuneCountInString(line) > 20 {
			t.Errorf("wider than 20 characters: %q", line)
		}
	}
}

// TestPages checks that every page is in the index, starts with its title from the index, and
// links only to existing pages.
func TestPages(t *testing.T) {
	files, err := fs.Glob(assets.Manual(), "*.md")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(Pages()), len(files)-1; got != want {
		t.Errorf("the index has %d pages, the folder %d", got, want)
	}
	for _, p := range Pages() {
		if head := p.Blocks[0]; head.Kind != Heading || head.Level != 1 || head.Text.String() != p.Title {
			t.Errorf("%s begins with %q, in the index it is %q", p.Topic, head.Text, p.Title)
		}
		for _, b := range p.Blocks {
			texts := []Text{b.Text}
			for _, row := range b.Rows {
				texts = append(texts, row...)
			}
			for _, text := range texts {
				for _, run := range text {
					topic, page := strings.CutSuffix(run.Link, ".md")
					if _, found := Find(topic); page && !found {
						t.Errorf("%s: there is no page %s", p.Topic, run.Link)
					}
				}
			}
		}
	}
}

// TestPlainHasEveryWord checks that the plain text of a page contains every word of its
// source.
func TestPlainHasEveryWord(t *testing.T) {
	word := regexp.MustCompile(`\pL{3,}`)
	for _, p := range Pages() {
		source, err := fs.ReadFile(assets.Manual(), p.Topic+".md")
		if err != nil {
			t.Fatal(err)
		}
		source = regexp.MustCompile(`(?s)<!--.*?-->|(?m)^`+"```"+`\w+$`).ReplaceAll(source, nil)
		source = regexp.MustCompile(`\]\([^)]*\)`).ReplaceAll(source, nil)
		source = regexp.MustCompile(` \(http[^)]*\)`).ReplaceAll(source, nil)
		shown := Plain(p.Blocks, 1000)
		shown = regexp.MustCompile(` \((ashlar help \w+|http[^)]*)\)`).ReplaceAllString(shown, "")
		if a, b := word.FindAllString(string(source), -1), word.FindAllString(shown, -1); !reflect.DeepEqual(a, b) {
			for i := range a {
				if i >= len(b) || a[i] != b[i] {
					t.Errorf("%s: %q is not shown, or elsewhere: … %s", p.Topic, a[i], strings.Join(a[max(0, i-5):i+1], " "))
					break
				}
			}
		}
	}
}

// TestReadmeLeadsToPages checks the README: its length, and that its links lead to existing
// files.
func TestReadmeLeadsToPages(t *testing.T) {
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(readme, []byte("\n")); n > 150 {
		t.Errorf("the README has %d lines; what is more than 150 belongs in the manual", n)
	}
	if regexp.MustCompile(`(?m)^(<<<<<<<|=======|>>>>>>>)`).Match(readme) {
		t.Error("the README has both sides of a conflict")
	}
	for _, m := range regexp.MustCompile(`\]\(([^)#]+)\)`).FindAllSubmatch(readme, -1) {
		if target := string(m[1]); !strings.Contains(target, "://") {
			if _, err := os.Stat(filepath.Join("../../..", target)); err != nil {
				t.Errorf("the README leads to %s, which is not there", target)
			}
		}
	}
}
