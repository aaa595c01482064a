// Package desktop embeds the files that register Ashlar with a desktop: icons, media
// types, the desktop entry, AppStream metadata and macOS's property list. It writes
// nothing: package install copies the files, and the packages carry them.
package desktop

import (
	"embed"
	"fmt"
	"strings"
)

//go:generate go run ./draw -o icons

// ID is the program's name for desktops: the name of the desktop entry, the icon, the
// AppStream component and the window class.
const ID = "dev.ashlar.Ashlar"

// Ashlar's own media types. SPAA consists of lines of JSON. Such a file is not JSON, and
// there is no registered suffix for it: hence no "+json". "+zstd" and "+gzip" are
// registered (RFC 8878, RFC 6713).
const (
	TypeSPAA      = "application/vnd.ashlar.spaa"
	TypeSPAAZstd  = "application/vnd.ashlar.spaa+zstd"
	TypeSPAAGzip  = "application/vnd.ashlar.spaa+gzip"
	TypeSpall     = "application/vnd.ashlar.spall"
	TypeSpallZstd = "application/vnd.ashlar.spall+zstd"
	TypeSpallGzip = "application/vnd.ashlar.spall+gzip"
	TypePprof     = "application/vnd.ashlar.pprof"
	TypeOTLP      = "application/vnd.ashlar.otlp-profiles"
	TypeStored    = "application/vnd.ashlar.recording"
)

// OwnTypes are opened with Ashlar unless the user chose another program. No other program
// claims their file names: *.spaa, *.spall, *.pprof, *.otlp, *.ashlar.
var OwnTypes = []string{TypeSPAA, TypeSPAAZstd, TypeSPAAGzip, TypeSpall, TypeSpallZstd, TypeSpallGzip, TypePprof, TypeOTLP, TypeStored}

// OfferedTypes may hold recordings (Chrome's .json, Go's .pb.gz) but mostly hold other
// things. For these Ashlar is offered after the program that already opens them.
var OfferedTypes = []string{"application/json", "application/gzip", "application/zstd"}

// sizes are the sizes of the PNG icons, in pixels.
var sizes = []int{16, 24, 32, 48, 64, 128, 256, 512}

//go:embed icons/*.png icons/*.svg entry.desktop types.xml metainfo.xml Info.plist
var files embed.FS

func read(name string) []byte {
	b, err := files.ReadFile(name)
	if err != nil {
		panic(err) // cannot happen: the file is embedded
	}
	return b
}

// AppIcon returns the program's PNG icon in one of the sizes.
func AppIcon(size int) []byte { return read(fmt.Sprintf("icons/app-%d.png", size)) }

// DocumentIcon returns the PNG icon of recordings in one of the sizes.
func DocumentIcon(size int) []byte { return read(fmt.Sprintf("icons/document-%d.png", size)) }

// File is a file for a data folder such as /usr/share or ~/.local/share.
type File struct {
	Path string // below the data folder, with slashes
	Data []byte
}

// documentIcon is the name of the recordings' icon in types.xml.
const documentIcon = ID + ".recording"

// Files returns the files for a data folder. program is the command in the desktop entry:
// a name on PATH or an absolute path. A path that no desktop entry can contain is an
// error.
func Files(program string) ([]File, error) {
	entry, err := Entry(program)
	if err != nil {
		return nil, err
	}
	all := []File{
		{"applications/" + ID + ".desktop", entry},
		{"mime/packages/" + ID + ".xml", read("types.xml")},
		{"metainfo/" + ID + ".metainfo.xml", metainfo(Releases(changelog()))},
		{"icons/hicolor/scalable/apps/" + ID + ".svg", read("icons/app.svg")},
		{"icons/hicolor/scalable/mimetypes/" + documentIcon + ".svg", read("icons/document.svg")},
	}
	for _, n := range sizes {
		dir := fmt.Sprintf("icons/hicolor/%dx%d/", n, n)
		all = append(all, File{dir + "apps/" + ID + ".png", AppIcon(n)}, File{dir + "mimetypes/" + documentIcon + ".png", DocumentIcon(n)})
	}
	return all, nil
}

// Entry returns the desktop entry that starts program.
func Entry(program string) ([]byte, error) {
	if program == "" || strings.ContainsFunc(program, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, fmt.Errorf("a desktop entry cannot start %q: its name has control characters", program)
	}
	if strings.Contains(program, "%") {
		// The specification has the escape %% for it, but GLib looks for the program
		// before it resolves the escape, and finds none.
		return nil, fmt.Errorf("desktops cannot start %s: its path has a percent sign; move it elsewhere", program)
	}
	// TryExec is a plain string; Exec additionally has quoting of its own.
	text := strings.ReplaceAll(string(read("entry.desktop")), "TryExec=ashlar\n", "TryExec="+escape(program)+"\n")
	text = strings.ReplaceAll(text, "Exec=ashlar ", "Exec="+escape(quote(program))+" ")
	return []byte(text), nil
}

// escape escapes a value of type string.
func escape(s string) string {
	s = strings.ReplaceAll(s, `\`, `\\`)
	if strings.HasPrefix(s, " ") {
		s = `\s` + s[1:]
	}
	return s
}

// Unescape undoes the escapes of a value of type string in an [Entry].
func Unescape(s string) string {
	if rest, ok := strings.CutPrefix(s, `\s`); ok {
		s = " " + rest
	}
	return strings.ReplaceAll(s, `\\`, `\`)
}

// quote quotes an argument of Exec.
func quote(arg string) string {
	if !strings.ContainsAny(arg, " \t\n\"'\\><~|&;$*?#()`=") {
		return arg
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", `$`, `\$`).Replace(arg) + `"`
}

// Plist returns macOS's Info.plist for a version such as 1.2.3.
func Plist(version string) []byte {
	return []byte(strings.ReplaceAll(string(read("Info.plist")), "@VERSION@", version))
}
