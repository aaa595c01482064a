package spans

import (
	"context"
	"sync/atomic"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/scan"
)

// RankOf returns the number of spans of a function, and the number that are longer than a
// duration; the rank of a span of that duration is one more. It covers the whole
// recording.
func RankOf(ctx context.Context, rec *recording.Recording, f recording.FuncID, duration int64) (longer, all int64, err error) {
	is := scan.Calls(rec, []recording.FuncID{f})
	items := scan.Cut(scan.Lanes(rec, recording.Scope{})...)
	var above, count atomic.Int64
	err = scan.Spread(ctx, len(items), func(_, i int) {
		var n, m int64
		items[i].Each(func(_ int, starts, ends []int64, calls []recording.CallID) {
			for k, c := range calls {
				if is[c] {
					n++
					if ends[k]-starts[k] > duration {
						m++
					}
				}
			}
		})
		count.Add(n)
		above.Add(m)
	})
	return above.Load(), count.Load(), err
}
