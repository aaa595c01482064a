package ingest

import (
	"fmt"
	"strings"

	"ashlar/ingest/format/codec"
)

// FormatFor returns the format in which a file of this name is written, by its extension.
// The error lists the extensions that can be written.
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

// WrittenFormats lists the formats that can be written with their extensions, a line each.
func WrittenFormats() string {
	var s strings.Builder
	for i := range Formats {
		if f := &Formats[i]; f.Encode != nil {
			fmt.Fprintf(&s, "  %-14s %s\n", strings.Join(f.Encode.Extensions, ", "), f.Title)
		}
	}
	return s.String()
}
