package widget

import "gioui.org/io/key"

// RowHeight is the height of a row of a list or table, in dp.
const RowHeight = 24

// ScrollKey scrolls *at if k is a scroll key, and reports whether it is.
func ScrollKey(at *int, k key.Event, line, page int) bool {
	if k.Modifiers != 0 {
		return false
	}
	switch k.Name {
	case key.NameUpArrow:
		*at -= line
	case key.NameDownArrow:
		*at += line
	case key.NamePageUp:
		*at -= page - line
	case key.NamePageDown:
		*at += page - line
	case key.NameHome:
		*at = 0
	default:
		return false
	}
	return true
}

// RowKey returns the row among n that a key moves to; at may be -1, for none.
func RowKey(at int, k key.Event, n, page int) (int, bool) {
	if k.Modifiers != 0 || n == 0 {
		return at, false
	}
	switch k.Name {
	case key.NameUpArrow:
		at--
	case key.NameDownArrow:
		at++
	case key.NamePageUp:
		at -= max(1, page-1)
	case key.NamePageDown:
		at += max(1, page-1)
	case key.NameHome:
		at = 0
	case key.NameEnd:
		at = n - 1
	default:
		return at, false
	}
	return max(0, min(at, n-1)), true
}

// ScrollInto scrolls just far enough to make a row visible.
func ScrollInto(scroll *int, row, h, height int) {
	*scroll = min(*scroll, row*h)
	*scroll = max(*scroll, (row+1)*h-height)
}
