package drop

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"strings"
)

// Files holds the files that a program says it drags.
type Files struct {
	// Paths are absolute, in their original order, without duplicates.
	Paths []string
	// Refused counts the dragged items that are not files on this computer; Reason
	// explains the first, in one sentence.
	Refused int
	Reason  string
}

func (f *Files) refuse(format string, args ...any) {
	if f.Refused++; f.Refused == 1 {
		f.Reason = fmt.Sprintf(format, args...)
	}
}

// Parse reads a list of URIs (text/uri-list, RFC 2483). It also accepts the deviations that
// programs send: any line ends, a NUL at the end, file: with one slash or three, plain paths,
// and bytes that should have been escaped.
func Parse(list []byte) Files {
	host, _ := os.Hostname()
	return parse(list, host)
}

func parse(list []byte, host string) Files {
	var f Files
	seen := map[string]bool{}
	for len(list) > 0 {
		line := list
		if i := bytes.IndexAny(list, "\n\r\x00"); i >= 0 {
			line, list = list[:i], list[i+1:]
		} else {
			list = nil
		}
		if p := f.line(string(line), host); p != "" && !seen[p] {
			seen[p] = true
			f.Paths = append(f.Paths, p)
		}
	}
	return f
}

// line returns the path that a line names, "" if it names none.
func (f *Files) line(line, host string) string {
	trimmed := strings.Trim(line, " \t")
	switch scheme, rest, ok := strings.Cut(trimmed, ":"); {
	case trimmed == "" || trimmed[0] == '#':
		return ""
	case trimmed[0] == '/':
		return path.Clean(line[strings.IndexByte(line, '/'):]) // blanks at the end of a name belong to it
	case !ok || !isScheme(scheme):
		f.refuse("%s is text, not a file", short(trimmed))
		return ""
	case strings.EqualFold(scheme, "file"):
		return f.fileURL(trimmed, rest, host)
	case strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"):
		f.refuse("%s is on the web. Download it and drop the file", short(trimmed))
	default:
		f.refuse("%s is not on this computer. Copy it here and drop the copy", short(trimmed))
	}
	return ""
}

// fileURL returns the path of a file URL; rest is the URL without "file:".
func (f *Files) fileURL(url, rest, host string) string {
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		i := strings.IndexByte(after, '/')
		if i < 0 {
			i = len(after)
		}
		if of := after[:i]; !isHere(of, host) {
			f.refuse("%s is on the computer %s. Copy it here and drop the copy", short(path.Base(unescape(after))), short(of))
			return ""
		}
		rest = after[i:]
	}
	p := unescape(rest)
	switch {
	case !strings.HasPrefix(p, "/"):
		f.refuse("%s does not name the file's folder", short(url))
		return ""
	case strings.Contains(p, "\x00"):
		f.refuse("%s has a NUL in its name, which file names cannot contain", short(url))
		return ""
	case strings.Count(p, "/") != strings.Count(rest, "/"):
		f.refuse("%s has a slash in its name, which file names cannot contain", short(url))
		return ""
	}
	return path.Clean(p)
}

// isHere reports whether a URL's host is this computer, whose name is host.
func isHere(of, host string) bool {
	if of == "" || strings.EqualFold(of, "localhost") {
		return true
	}
	name, _, _ := strings.Cut(host, ".")
	return host != "" && (strings.EqualFold(of, host) || strings.EqualFold(of, name))
}

// isScheme reports whether s is a valid URL scheme.
func isScheme(s string) bool {
	for i, c := range []byte(s) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '+' && c != '-' && c != '.') {
			return false
		}
	}
	return s != ""
}

// unescape resolves percent escapes. An invalid escape is kept as text, because some
// programs put paths into URLs unescaped.
func unescape(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if hi, lo := hex(s[i+1]), hex(s[i+2]); hi >= 0 && lo >= 0 {
				b = append(b, byte(hi<<4|lo))
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

func hex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// short makes text from other programs fit for a sentence: it replaces invalid UTF-8 and
// control characters, and cuts the middle of long text.
func short(s string) string {
	r := []rune(strings.ToValidUTF8(s, "�"))
	for i, c := range r {
		if c < ' ' || c == 0x7f {
			r[i] = '�'
		}
	}
	if len(r) > 60 {
		r = append(append(r[:40:40], '…'), r[len(r)-19:]...)
	}
	return string(r)
}
