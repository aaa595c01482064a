package units

import (
	"math"
	"strconv"
	"strings"
)

// mostTimes is the largest ratio that is written. A larger one has a first value close to
// zero, so its error is large.
const mostTimes = 1000

// Change writes by how much a became b: +12.7 %, new, −100 %, ×32.0, over ×1000.
func Change(a, b int64) string {
	switch {
	case a == b:
		return "0 %"
	case a == 0:
		return "new"
	case b == 0:
		return "−100 %"
	}
	p := (float64(b) - float64(a)) / math.Abs(float64(a)) * 100
	switch {
	case p >= (mostTimes-1)*100:
		return "over ×" + strconv.Itoa(mostTimes)
	case p >= 1000:
		return "×" + strconv.FormatFloat(float64(b)/float64(a), 'f', 1, 64)
	case math.Abs(p) < .05:
		return map[bool]string{true: "+<0.1 %", false: "−<0.1 %"}[p > 0]
	}
	s := strconv.FormatFloat(p, 'f', 1, 64) + " %"
	if p > 0 {
		return "+" + s
	}
	return strings.Replace(s, "-", "−", 1)
}

// Times formats the ratio of b to a: 0.904 times.
func Times(a, b int64) string {
	switch {
	case a == b:
		return "as large as"
	case a == 0:
		return "infinitely many times"
	}
	times := float64(b) / float64(a)
	if times >= mostTimes {
		return "over " + strconv.Itoa(mostTimes) + " times"
	}
	return strconv.FormatFloat(times, 'f', 3, 64) + " times"
}

// Level writes a confidence from 0 to 1; never 100 %, since nothing is that
// sure.
func Level(l float64) string {
	switch {
	case l < .5: // a difference that is shown is never 0 % certain
		return "<50 %"
	case l >= .9995:
		return ">99.9 %"
	case l >= .99:
		return strconv.FormatFloat(math.Floor(l*1000)/10, 'f', 1, 64) + " %"
	}
	return strconv.FormatFloat(math.Floor(l*100), 'f', 0, 64) + " %"
}
