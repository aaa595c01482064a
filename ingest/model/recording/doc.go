// Package recording holds a recorded run of a program in the one form that every decoder
// writes and every view reads: functions, frames, calls, events and metrics, tracks of
// spans and samples, aggregated stacks, and windows.
//
// It does no I/O and draws nothing.
//
// A [Builder] belongs to the goroutine that decodes. It publishes immutable snapshots,
// each a [Recording], which any number of goroutines may read without locks while the
// builder continues. Columns are append-only ([column.Vec], and [lanes.Lane] for spans): a
// snapshot sees the first n elements of each, and the builder writes only behind them.
//
// Times are int64 picoseconds from an origin that the recording chooses (see [Clock]).
// Values of metrics are exact int64 in units of 10^-Decimals of the metric's unit (see
// [Metric]). Only drawing hints are floats.
package recording
