package units

import (
	"slices"
	"strconv"
	"strings"
)

// Starts returns a function that formats times, in picoseconds, with enough digits to
// distinguish the given ones: like [Duration] if that suffices, otherwise in seconds with
// decimals.
func Starts(all []int64) func(ps int64) string {
	sorted := slices.Compact(slices.Sorted(slices.Values(all)))
	least := int64(1e12) // smallest distance between two times
	alike := false
	for i := 1; i < len(sorted); i++ {
		least = min(least, sorted[i]-sorted[i-1])
		alike = alike || Duration(sorted[i]) == Duration(sorted[i-1])
	}
	if !alike {
		return Duration
	}
	digits := 0
	for step := int64(1e12); step > least && digits < 12; step /= 10 {
		digits++
	}
	cut := int64(1)
	for range 12 - digits {
		cut *= 10
	}
	return func(ps int64) string {
		sign := ""
		if ps < 0 {
			sign, ps = "−", -ps
		}
		ps -= ps % cut
		part := strconv.FormatInt(ps%1e12, 10)
		part = strings.Repeat("0", 12-len(part)) + part
		text := sign + strconv.FormatInt(ps/1e12, 10)
		if digits > 0 {
			text += "." + part[:digits]
		}
		return text + thin + "s"
	}
}
