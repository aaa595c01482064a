package sql

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/ncruces/go-sqlite3"
)

// linear replaces the functions of SQLite that take a time that grows with the product of the
// lengths of two texts. A call of a function cannot be interrupted.
func linear(db *sqlite3.Conn) error {
	type function = func(x sqlite3.Context, args ...sqlite3.Value)
	trim := func(do func(s string, f func(rune) bool) string) function {
		return func(x sqlite3.Context, args ...sqlite3.Value) {
			in := map[rune]bool{}
			for _, r := range args[1].Text() {
				in[r] = true
			}
			x.ResultText(do(args[0].Text(), func(r rune) bool { return in[r] }))
		}
	}
	for _, f := range []struct {
		name string
		args int
		do   function
	}{
		{"trim", 2, trim(strings.TrimFunc)},
		{"ltrim", 2, trim(strings.TrimLeftFunc)},
		{"rtrim", 2, trim(strings.TrimRightFunc)},
		{"instr", 2, instr},
		{"replace", 3, replace},
		{"unhex", 2, func(x sqlite3.Context, _ ...sqlite3.Value) {
			x.ResultError(errors.New("unhex takes one argument here"))
		}},
	} {
		err := db.CreateFunction(f.name, f.args, sqlite3.DETERMINISTIC|sqlite3.INNOCUOUS, func(x sqlite3.Context, args ...sqlite3.Value) {
			for _, a := range args {
				if a.Type() == sqlite3.NULL {
					x.ResultNull()
					return
				}
			}
			f.do(x, args...)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// instr returns the place of a text in another, from 1 and in characters, or in bytes for two
// blobs; 0 if it is not there.
func instr(x sqlite3.Context, args ...sqlite3.Value) {
	if args[0].Type() == sqlite3.BLOB && args[1].Type() == sqlite3.BLOB {
		x.ResultInt64(int64(1 + bytes.Index(args[0].RawBlob(), args[1].RawBlob())))
		return
	}
	s := args[0].Text()
	i := strings.Index(s, args[1].Text())
	if i >= 0 {
		i = utf8.RuneCountInString(s[:i])
	}
	x.ResultInt64(int64(1 + i))
}

// replace replaces a text in another.
func replace(x sqlite3.Context, args ...sqlite3.Value) {
	s, old, by := args[0].Text(), args[1].Text(), args[2].Text()
	if old == "" {
		x.ResultText(s)
		return
	}
	if more := len(by) - len(old); more > 0 && strings.Count(s, old) > (textBytes-len(s))/more {
		x.ResultError(sqlite3.TOOBIG)
		return
	}
	x.ResultText(strings.ReplaceAll(s, old, by))
}
