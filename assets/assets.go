// Package assets holds what the program carries with it.
package assets

import _ "embed"

//go:generate go run ./demo -o demo.spaa.zst

//go:embed demo.spaa.zst
var demo []byte

// Demo is the built-in recording, a SPAA file compressed with zstd: 1.3 seconds
// of a made-up shop service. The caller must not write to it. See ./demo for
// the story that it tells.
func Demo() []byte { return demo }
