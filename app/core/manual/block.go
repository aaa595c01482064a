package manual

import "strings"

// Kind tells blocks apart.
type Kind uint8

// The kinds of blocks.
const (
	Heading   Kind = iota // Level and Text
	Paragraph             // Text
	Item                  // of a list: Mark and Text
	Code                  // Lines, as they are
	Table                 // Rows; the first one is the head
)

// Block is one part of a page, to be laid out below the one before.
type Block struct {
	Kind  Kind
	Level int    // of a heading: 1 is the page's title
	Depth int    // how many lists the block is in; an Item is in at least one
	Mark  string // of an Item: "•", or its number and a dot
	Text  Text
	Lines []string
	Rows  [][]Text // all of one length
	Right []bool   // a Table's columns: whether the numbers in it end at one edge
}

// Text is a piece of running text.
type Text []Run

// Run is a part of a Text that looks the same throughout.
type Run struct {
	Text         string
	Code, Strong bool
	Link         string // a page's file, like "opening.md", or an address; "" for none
}

// String is the text without its looks.
func (t Text) String() string {
	var b strings.Builder
	for _, r := range t {
		b.WriteString(r.Text)
	}
	return b.String()
}
