// Package assets embeds the manual, the built-in recording and the desktop files.
package assets

import (
	"embed"
	"io/fs"
)

//go:generate go run ./demo -o demo.spaa.zst

//go:embed demo.spaa.zst
var demo []byte

//go:embed manual/*.md
var manual embed.FS

// Demo returns the built-in recording, a SPAA file compressed with zstd: 1.3 seconds of a
// made-up shop service. The caller must not write to it. See ./demo for its story.
func Demo() []byte { return demo }

// Manual returns the manual's pages, one Markdown file per topic; index.md lists them in
// reading order.
func Manual() fs.FS {
	pages, err := fs.Sub(manual, "manual")
	if err != nil {
		panic(err) // cannot happen: the folder is embedded above
	}
	return pages
}
