package decode

import (
	"fmt"

	"ashlar/ingest/model/recording"
)

// Byte describes a position in a file, as used in warnings and ledgers.
func Byte(off int64) string { return fmt.Sprintf("byte %d", off) }

// WarnDamage warns that a file cannot be read beyond a byte, because it ends there
// (truncated) or the data is invalid. It does nothing if damage is negative.
func WarnDamage(b *recording.Builder, damage int64, cut bool) {
	what := "is damaged"
	if cut {
		what = "is truncated"
	}
	if damage >= 0 {
		b.Warn("damaged", Byte(damage), "The file %s at byte %d; everything before is shown", what, damage)
	}
}
