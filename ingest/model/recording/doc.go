// Package recording holds a recorded run of a program in the one shape that
// every decoder writes and every view reads: functions, frames, calls, events
// and metrics, tracks of spans and samples, aggregated stacks, and windows.
//
// It does no input or output and draws nothing.
//
// A [Builder] belongs to one goroutine, the one that decodes. It publishes
// immutable snapshots, each a [Recording], which any number of goroutines may
// read without locks while the builder goes on. Columns only grow at their end
// ([column.Vec], and [lanes.Lane] for spans): a snapshot sees the first n elements
// of each and the builder only ever writes behind them.
//
// Times are int64 picoseconds from an origin the recording chooses (see
// [Clock]); values of metrics are exact int64 in units of 10^-Decimals of the
// metric's unit (see [Metric]). Nothing here is a float but a picture's hints.
package recording
