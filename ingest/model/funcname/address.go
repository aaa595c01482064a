package funcname

import (
	"path"
	"strconv"
	"strings"
)

// Unknown is the name of code whose name, address and binary are all unknown.
const Unknown = "<unknown>"

// OfAddress returns a name for a function that has only an address: its offset in its
// binary, as in "libc.so.6+0x12", because the offset is the same in each run. If the
// offset is 0 (unknown), it returns the address; without an address, the binary, as in
// "[libc.so.6]", or else Unknown.
func OfAddress(module string, addr, offset uint64) string {
	base := path.Base(strings.ReplaceAll(module, `\`, "/"))
	switch {
	case module != "" && offset != 0:
		return base + "+0x" + strconv.FormatUint(offset, 16)
	case addr != 0:
		return "0x" + strconv.FormatUint(addr, 16)
	case module != "":
		return "[" + strings.Trim(base, "[]") + "]"
	}
	return Unknown
}
