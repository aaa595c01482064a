// Package names generates names that are hard to draw and to write: in any script, with
// control characters, invalid UTF-8, and text that is code in other formats.
package names

import (
	"math/rand/v2"
	"strings"
)

// Pieces are short texts in many scripts, and characters that change the look of their
// neighbours: bidi controls, joiners, marks, emoji sequences, and invalid UTF-8.
var Pieces = strings.Split("\u2066|\u2067|\u2068|\u2069|\u202a|\u202b|\u202c|\u202d|\u202e|\u200e|\u200f|\u061c|"+ // bidi
	"\u200b|\u200c|\u200d|\u2060|\ufeff|\u00ad|\u034f|\ufe0f|\ufe0e|\U000e0100|\U000e0041|\u180e|\u115f|\u3164|"+ // ignorable
	"\u0301|\u0323|\u20dd|\u05b0|\u064b|\u093c|\u0e31|\u1dc0|\u302a|\u0488|"+ // marks
	"👩\u200d👩\u200d👧|🇩🇪|👍🏽|#\ufe0f\u20e3|🏴\U000e0067\U000e0062\U000e007f|"+
	"中文|ひらがな|カ\u3099|한국어|\u1112\u1161\u11ab|"+
	"\u05d0\u05d1|\u0645\u062d|\u0644\u0627|\u06f1\u06f2|\u0661|\u0710\u072a|\u07ca|\u0840|"+
	"\u0915\u094d\u0937|\u0915\u094d\u200d|বাংলা|தமிழ்|\u0d15\u0d4d\u0d15|ไทย|ລາວ|\u1780\u17d2\u1780|\u1000\u1039\u1000|བོད|\u1820\u180b|\U00011083\U000110b9|"+
	"a|B|main.run|(|)|[|]|«|»|1|2.5|,|:|-|+|%| |\t|\n|\r|\x00|\x1b|\u0085|\u2028|\u2029|\u3000|"+
	"\xff|\xc3|\xed\xa0\x80|\xed\xbf\xbf|\xf4\x90\x80\x80|\ufffd|\ufffe|\uffff|\U0010ffff|\ue000", "|")

// Random returns a name made of a few pieces.
func Random(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(12) {
		b.WriteString(Pieces[r.IntN(len(Pieces))])
	}
	return b.String()
}

// Code are names that would be taken as code in pages, pictures, tables, terminals or
// shells.
var Code = []string{
	"=1+1", "=cmd|' /C calc'!A0", "+1+cmd", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1",
	"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "</title><script>x</script>", "</text><script>x</script>", "]]><script>x</script>", "<!--", "&lt;script&gt;", "' onload='x",
	"[x](javascript:alert(1))", "![x](https://example.com/x.png)", "`</code>`<script>", "``` ``<svg onload=x>", "<javascript:alert(1)>", "<https://example.com>",
	"\x1b]0;title\x07", "\x1b[2J", "$(touch injected)", "; touch injected", "`touch injected`", "--output=x", "-o", "../../etc/passwd", "%s%n%d", "\x00", "a\nb: c",
}
