// Command draw draws Ashlar's icons: courses of squared stones that rise like a
// flamegraph, for the program, and the same wall on a sheet of paper for its documents.
// go generate runs it in the folder above:
//
//	go run ./draw -o icons
//
// The SVG and all PNGs come from one description. The small PNGs are not scaled-down
// large ones: their joints fall on whole pixels, and the smallest have fewer courses.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
)

// sizes are the sizes of the hicolor icon theme that desktops request, plus those for
// Windows and macOS.
var sizes = []int{16, 24, 32, 48, 64, 128, 256, 512}

func main() {
	out := flag.String("o", "icons", "the folder to write")
	flag.Parse()
	for name, b := range files() {
		path := filepath.Join(*out, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			stop(err)
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			stop(err)
		}
	}
}

func stop(err error) {
	fmt.Fprintln(os.Stderr, "draw:", err)
	os.Exit(1)
}

// files returns the pictures by name: app.svg, app-16.png, document.svg …
func files() map[string][]byte {
	all := map[string][]byte{}
	for name, design := range map[string]func(int) []shape{"app": app, "document": document} {
		all[name+".svg"] = svg(design(0))
		for _, n := range sizes {
			var b bytes.Buffer
			enc := png.Encoder{CompressionLevel: png.BestCompression}
			if err := enc.Encode(&b, raster(design(n), n)); err != nil {
				panic(err) // memory does not fail
			}
			all[fmt.Sprintf("%s-%d.png", name, n)] = b.Bytes()
		}
	}
	return all
}
