// Package group makes control groups with a limit on memory for tests and benchmarks on
// Linux.
package group
