package safetext

import "strings"

// Code writes a name as code of Markdown, in which nothing of it means anything: no
// markup, no tag, no link, nobody's name to be notified.
func Code(name string) string { return code(Short(name)) }

func code(name string) string {
	if strings.TrimSpace(name) == "" {
		return "(no name)"
	}
	fence := Fence(name, 1)
	if fence != "`" || name[0] == ' ' && name[len(name)-1] == ' ' {
		name = " " + name + " "
	}
	return fence + name + fence
}

// CodeInTable is Code in a cell of a table, which a bar would end unless a backslash is
// before it; what two backslashes do depends on the reader, so such a bar is a broken one.
func CodeInTable(name string) string {
	return code(strings.ReplaceAll(strings.ReplaceAll(Short(name), `\|`, `\¦`), "|", `\|`))
}

// Fence is a row of backticks, at least so many, that is longer than any in a text.
func Fence(text string, least int) string {
	longest, run := 0, 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", max(least, longest+1))
}

// Markdown writes a sentence that has words of a recording in it as Markdown that shows
// just that.
func Markdown(s string) string {
	var b strings.Builder
	for _, r := range Text(s) {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '@' || r == '#':
			b.WriteString("<!-- -->" + string(r) + "<!-- -->") // notifies nobody, links nothing
		case strings.ContainsRune("\\`*_{}[]()!|~$", r):
			b.WriteString(`\` + string(r))
		default:
			b.WriteRune(r)
		}
	}
	s = b.String()
	for _, scheme := range []string{"://", "www."} {
		s = strings.ReplaceAll(s, scheme, scheme[:1]+"<!-- -->"+scheme[1:])
	}
	return s
}
