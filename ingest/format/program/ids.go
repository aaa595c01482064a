package program

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
)

// plainID returns an id in lower case without the signs that some formats put between its
// digits.
func plainID(id string) string {
	return strings.NewReplacer("-", "", "{", "", "}", "").Replace(strings.ToLower(id))
}

// Compare compares the program with a recorded id. own is the program's id in the same form,
// "" if it has none, and form names it. Besides the build id in hexadecimal there are: the
// form of the Breakpad tools, a GUID followed by the number of times that the PDB file was
// written; and the time stamp and size of a PE file, by which symbol servers find it.
func (p *Program) Compare(recorded string) (own, form string, same bool) {
	const guid = 32 // digits
	want := plainID(recorded)
	switch n := len(want); {
	case n <= 16 && p.codeID != "":
		return p.codeID, "time stamp and size", want == p.codeID
	case p.BuildID == nil:
		return "", "build id", false
	case n == guid+1, n > guid && n <= guid+8 && !p.elf: // perf cuts zeros off the ids of ELF files
		id := p.BuildID
		if p.elf {
			id = GUID(append(bytes.Clone(id), make([]byte, 16)...)[:16])
		}
		own = fmt.Sprintf("%x%x", id, p.age)
		return own, "build id", want == own
	}
	id, err := hex.DecodeString(want)
	same = err == nil && (SameID(id, p.BuildID) || p.codeID != "" && len(id) == 16 && SameID(GUID(id), p.BuildID))
	return hex.EncodeToString(p.BuildID), "build id", same
}

// IsID reports whether a recorded id is one that [Program.Compare] can compare.
func IsID(recorded string) bool {
	const digits = "0123456789abcdef"
	id := plainID(recorded)
	return id != "" && strings.Trim(id, digits) == ""
}
