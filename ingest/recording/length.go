package recording

// lengthUnits are those that lengths of time are written in.
var lengthUnits = []struct {
	name  string
	scale int // digits of a picosecond
}{{"s", 12}, {"ms", 9}, {"us", 6}, {"ns", 3}, {"ps", 0}}

// Length writes a length of time, in picoseconds, exactly: in the largest unit up
// to seconds that it reaches, like 235 us or 1.5 ms.
func Length(ps int64) string {
	u := lengthUnits[len(lengthUnits)-1]
	for _, x := range lengthUnits {
		size := int64(1)
		for range x.scale {
			size *= 10
		}
		if ps >= size || ps <= -size {
			u = x
			break
		}
	}
	return Decimal{Mantissa: ps, Scale: u.scale}.String() + " " + u.name
}
