// Package manual parses the pages of the built-in manual, for the window's help and for
// "ashlar help TOPIC". Pages are Markdown, divided into blocks for layout.
package manual

import (
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"ashlar/assets"
)

// Page is one topic of the manual.
type Page struct {
	Topic  string // the name typed to read it: "opening"
	Title  string // "Files and formats"
	Line   string // a short description of the content
	Blocks []Block
}

// Pages returns all pages, in the order of the index.
func Pages() []Page { return pages() }

// Find returns the page of a topic.
func Find(topic string) (Page, bool) {
	for _, p := range pages() {
		if p.Topic == topic {
			return p, true
		}
	}
	return Page{}, false
}

var pages = sync.OnceValue(func() []Page {
	all, err := read(assets.Manual())
	if err != nil {
		panic("the manual cannot be read: " + err.Error()) // a test reads all pages
	}
	return all
})

// read reads the pages listed in index.md. Each list item is a link to the page with its
// title, a colon and a short description.
func read(files fs.FS) ([]Page, error) {
	index, err := parseFile(files, "index.md")
	if err != nil {
		return nil, err
	}
	var all []Page
	for _, b := range index {
		if b.Kind != Item {
			continue
		}
		topic, ok := strings.CutSuffix(b.Text[0].Link, ".md")
		title := b.Text[0].Text
		line, colon := strings.CutPrefix(b.Text.String(), title+": ")
		if !ok || !colon {
			return nil, fmt.Errorf("index.md: %q does not name a page", b.Text)
		}
		p := Page{Topic: topic, Title: title, Line: line}
		if p.Blocks, err = parseFile(files, b.Text[0].Link); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func parseFile(files fs.FS, name string) ([]Block, error) {
	b, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	blocks, err := Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return blocks, nil
}
