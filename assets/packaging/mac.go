package main

import (
	"bytes"
	"encoding/binary"
	"regexp"

	"ashlar/assets/desktop"
)

// bundle lays out Ashlar.app around a program.
func bundle(binary []byte, version string) []entry {
	return under("Ashlar.app/Contents", []entry{
		file("Info.plist", 0o644, desktop.Plist(appleVersion(version))),
		file("PkgInfo", 0o644, []byte("APPL????")),
		file("MacOS/ashlar", 0o755, binary),
		file("Resources/Ashlar.icns", 0o644, icns(desktop.AppIcon)),
		file("Resources/Recording.icns", 0o644, icns(desktop.DocumentIcon)),
	})
}

var threeNumbers = regexp.MustCompile(`^\d+\.\d+\.\d+`)

// appleVersion returns the three numbers that a bundle's version may have.
func appleVersion(version string) string {
	if v := threeNumbers.FindString(version); v != "" {
		return v
	}
	return "0.0.0"
}

// iconTypes lists the entry types for PNG images in an icns file, with the image's size in
// pixels. ic11 to ic14 are for high-density screens, which show them at half that size.
var iconTypes = []struct {
	name string
	size int
}{
	{"icp4", 16}, {"icp5", 32}, {"icp6", 64}, {"ic07", 128}, {"ic08", 256}, {"ic09", 512},
	{"ic11", 32}, {"ic12", 64}, {"ic13", 256}, {"ic14", 512},
}

// icns returns a macOS icon file: a magic and the file's length, then for every picture a
// type, the length including this header, and the PNG.
func icns(picture func(size int) []byte) []byte {
	var body bytes.Buffer
	for _, t := range iconTypes {
		b := picture(t.size)
		body.WriteString(t.name)
		_ = binary.Write(&body, binary.BigEndian, uint32(8+len(b))) // memory does not fail
		body.Write(b)
	}
	head := binary.BigEndian.AppendUint32([]byte("icns"), uint32(8+body.Len()))
	return append(head, body.Bytes()...)
}
