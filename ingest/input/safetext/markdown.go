package safetext

import "strings"

// Code formats a name as inline code in Markdown, so that nothing in it is interpreted:
// no markup, tag, link or mention of a user.
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

// CodeInTable is like Code, for a table cell. A bar would end the cell unless a backslash
// precedes it. Readers disagree about two backslashes, so a bar that already follows a
// backslash becomes a broken bar.
func CodeInTable(name string) string {
	return code(strings.ReplaceAll(strings.ReplaceAll(Short(name), `\|`, `\¦`), "|", `\|`))
}

// Fence returns a run of backticks that is longer than any in text, and at least as long
// as least.
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

// Markdown escapes a sentence with words from a recording, so that Markdown shows it
// literally.
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
			b.WriteString("<!-- -->" + string(r) + "<!-- -->") // prevents mentions and links
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
