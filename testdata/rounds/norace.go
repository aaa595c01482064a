//go:build !race

package rounds

// Raced is whether the race detector is on.
const Raced = false
