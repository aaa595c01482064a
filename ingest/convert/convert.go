// Package convert finds the format that a file is written in. The formats
// themselves lie beside their readers (see package codec); this package's tests
// hold them against each other.
package convert

import (
	"fmt"
	"strings"

	"ashlar/ingest"
	"ashlar/ingest/format/codec"
)

// ForFile finds the format that a file is written in by its name's extension.
// The error lists the extensions that there are.
func ForFile(name string) (*codec.Format, error) {
	var all []string
	for i := range ingest.Formats {
		f := &ingest.Formats[i]
		if f.Encode == nil {
			continue
		}
		if codec.HasExtension(name, f.Encode.Extensions) {
			return f, nil
		}
		all = append(all, f.Encode.Extensions...)
	}
	return nil, fmt.Errorf("%s says no format: its extension must be one of %s, and .gz or .zst may follow", name, strings.Join(all, ", "))
}

// Targets lists the extensions that there are and what they stand for, a line
// for each format.
func Targets() string {
	var s strings.Builder
	for i := range ingest.Formats {
		if f := &ingest.Formats[i]; f.Encode != nil {
			fmt.Fprintf(&s, "  %-14s %s\n", strings.Join(f.Encode.Extensions, ", "), f.Title)
		}
	}
	return s.String()
}
