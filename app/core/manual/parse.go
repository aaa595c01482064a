package manual

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Parse splits Markdown into blocks, leaving out comments. Markdown without a matching
// Block, such as a quotation or a picture, is an error, so that no part of a page gets
// lost.
func Parse(markdown []byte) ([]Block, error) {
	p := parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithParagraphTransformers(append(parser.DefaultParagraphTransformers(), util.Prioritized(extension.NewTableParagraphTransformer(), 200))...),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
	w := walker{source: markdown}
	w.blocks(p.Parse(text.NewReader(markdown)), 0, "")
	return w.out, w.err
}

// walker converts goldmark's tree to blocks.
type walker struct {
	source []byte
	out    []Block
	err    error
}

// blocks appends the children of a node, inside depth lists. If mark is not "", the first
// paragraph becomes a list item with that mark.
func (w *walker) blocks(parent ast.Node, depth int, mark string) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		b := Block{Depth: depth}
		switch n := n.(type) {
		case *ast.Heading:
			b.Kind, b.Level, b.Text = Heading, n.Level, w.text(n)
		case *ast.Paragraph, *ast.TextBlock:
			b.Kind, b.Text = Paragraph, w.text(n)
			if mark != "" {
				b.Kind, b.Mark, mark = Item, mark, ""
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			b.Kind = Code
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				b.Lines = append(b.Lines, strings.TrimRight(string(line.Value(w.source)), "\n"))
			}
		case *table.Table:
			b = w.table(n, depth)
		case *ast.List:
			w.list(n, depth)
			continue
		case *ast.HTMLBlock:
			if !w.comment(n.Lines()) {
				w.fail(n)
			}
			continue
		default:
			w.fail(n)
			continue
		}
		w.out = append(w.out, b)
	}
}

func (w *walker) list(l *ast.List, depth int) {
	number := l.Start
	for item := l.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "•"
		if l.IsOrdered() {
			mark = strconv.Itoa(number) + "."
			number++
		}
		w.blocks(item, depth+1, mark)
	}
}

func (w *walker) table(t *table.Table, depth int) Block {
	b := Block{Kind: Table, Depth: depth}
	for _, a := range t.Alignments {
		b.Right = append(b.Right, a == table.AlignRight)
	}
	for row := t.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []Text
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, w.text(cell))
		}
		for len(cells) < len(b.Right) {
			cells = append(cells, nil)
		}
		b.Rows = append(b.Rows, cells)
	}
	return b
}

// text returns the text of a node, with adjacent runs of the same style joined.
func (w *walker) text(parent ast.Node) Text {
	var t Text
	w.inline(parent, Run{}, &t)
	return t
}

// inline appends the content of a node, starting from the surrounding style.
func (w *walker) inline(parent ast.Node, look Run, to *Text) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		inside := look
		switch n := n.(type) {
		case *ast.Text:
			s := string(util.UnescapePunctuations(n.Value(w.source)))
			if look.Code {
				s = string(n.Value(w.source))
			}
			if n.SoftLineBreak() || n.HardLineBreak() {
				s += " "
			}
			to.add(s, look)
			continue
		case *ast.String:
			to.add(string(n.Value), look)
			continue
		case *ast.AutoLink:
			inside.Link = string(n.URL(w.source))
			to.add(string(n.Label(w.source)), inside)
			continue
		case *ast.CodeSpan:
			inside.Code = true
		case *ast.Emphasis:
			inside.Strong = true
		case *ast.Link:
			inside.Link = string(n.Destination)
		case *ast.RawHTML:
			if !w.comment(n.Segments) {
				w.fail(n)
			}
			continue
		default:
			w.fail(n)
			continue
		}
		w.inline(n, inside, to)
	}
}

func (t *Text) add(s string, look Run) {
	if last := len(*t) - 1; last >= 0 {
		before := (*t)[last]
		if before.Text = ""; before == look {
			(*t)[last].Text += s
			return
		}
	}
	look.Text = s
	*t = append(*t, look)
}

// comment reports whether HTML is a comment, which readers do not see.
func (w *walker) comment(html *text.Segments) bool {
	return bytes.HasPrefix(bytes.TrimSpace(html.Value(w.source)), []byte("<!--"))
}

func (w *walker) fail(n ast.Node) {
	if w.err == nil {
		w.err = fmt.Errorf("the manual does not support Markdown's %s", n.Kind())
	}
}
