package spaa

import (
	"strconv"
	"strings"
)

// splitSrcLine splits "file:line[:column]" from the right, so that file names with colons
// ("node:fs:66:25", `C:\a.c:7`) stay whole. line and column are 0 if absent.
func splitSrcLine(s string) (file string, line, column int32) {
	// addr2line and perf append " (discriminator N)".
	if i := strings.LastIndex(s, " (discriminator "); i > 0 {
		s = s[:i]
	}
	rest, n, ok := cutNumber(s)
	if !ok {
		return knownFile(s), 0, 0
	}
	if before, m, ok := cutNumber(rest); ok {
		return knownFile(before), m, n
	}
	return knownFile(rest), n, 0
}

// cutNumber cuts ":123" off the end, unless nothing would be left.
func cutNumber(s string) (rest string, n int32, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i <= 0 || i == len(s)-1 {
		return s, 0, false
	}
	v, err := strconv.ParseUint(s[i+1:], 10, 31)
	if err != nil {
		return s, 0, false
	}
	return s[:i], int32(v), true
}

// knownFile returns "" for the file name that symbolisers write for an unknown file.
func knownFile(s string) string {
	if s == "??" {
		return ""
	}
	return s
}

// parseHex reads "0x1f" or "1f".
func parseHex(s string) (uint64, bool) {
	if len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' {
		s = s[2:]
	}
	if len(s) == 0 || len(s) > 16 {
		return 0, false
	}
	var v uint64
	for _, c := range []byte(s) {
		switch {
		case c-'0' <= 9:
			v = v<<4 | uint64(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			v = v<<4 | uint64(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return v, true
}
