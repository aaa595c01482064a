package manual

import "strings"

// Kind is the kind of a block.
type Kind uint8

// The kinds of blocks.
const (
	Heading   Kind = iota // has Level and Text
	Paragraph             // has Text
	Item                  // list item; has Mark and Text
	Code                  // has Lines, verbatim
	Table                 // has Rows; the first is the head
)

// Block is a part of a page. Blocks are laid out one below the other.
type Block struct {
	Kind  Kind
	Level int    // level of a Heading: 1 for the page's title
	Depth int    // number of lists around the block; at least one for an Item
	Mark  string // mark of an Item: "•", or its number and a dot
	Text  Text
	Lines []string
	Rows  [][]Text // all of the same length
	Right []bool   // for each column of a Table: whether it is right-aligned
}

// Text is a piece of running text.
type Text []Run

// Run is a part of a Text in a single style.
type Run struct {
	Text         string
	Code, Strong bool
	Link         string // the file of a page, such as "opening.md", or a URL; "" for none
}

// String returns the text without styles.
func (t Text) String() string {
	var b strings.Builder
	for _, r := range t {
		b.WriteString(r.Text)
	}
	return b.String()
}
