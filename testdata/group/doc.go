// Package group makes control groups with a limit on memory for tests on Linux.
package group
