package ingest

import (
	"fmt"
	"strings"

	"ashlar/ingest/format/codec"
)

// FormatFor returns the format for writing a file of this name, by its extension. The
// error lists the supported extensions.
func FormatFor(name string) (*codec.Format, error) {
	var all []string
	for i := range Formats {
		f := &Formats[i]
		if f.Encode == nil {
			continue
		}
		if codec.HasExtension(name, f.Encode.Extensions) {
			return f, nil
		}
		all = append(all, f.Encode.Extensions...)
	}
	return nil, fmt.Errorf("%s has no known format; use one of the extensions %s, optionally followed by .gz or .zst", name, strings.Join(all, ", "))
}

// WrittenFormats lists the formats that can be written and their extensions, one per
// line.
func WrittenFormats() string {
	var s strings.Builder
	for i := range Formats {
		if f := &Formats[i]; f.Encode != nil {
			fmt.Fprintf(&s, "  %-14s %s\n", strings.Join(f.Encode.Extensions, ", "), f.Title)
		}
	}
	return s.String()
}
