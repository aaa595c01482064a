//go:build race

package rounds

// raced means that the race detector is on.
const raced = true
