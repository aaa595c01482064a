package assembly_test

import (
	"bufio"
	"bytes"
	"debug/macho"
	"debug/pe"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ashlar/app/core/assembly"
	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/model/recording"
)

const hash = `package main

import "os"

//go:noinline
func hash(n int) (h uint32) {
	for i := range n {
		h = (h ^ uint32(i)) * 0x85ebca6b
	}
	return h
}

func main() { os.Exit(int(hash(len(os.Args)*1000) & 1)) }
`

// printed is an instruction of hash as Go's objdump prints it.
type printed struct {
	at   uint64
	line int
}

func objdumpOf(t *testing.T, path string) (all []printed) {
	t.Helper()
	out, err := exec.Command("go", "tool", "objdump", "-s", `^main\.hash$`, path).Output()
	if err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		var x printed
		if _, err := fmt.Sscanf(s.Text(), "  main.go:%d 0x%x", &x.line, &x.at); err == nil {
			all = append(all, x)
		}
	}
	return all
}

// TestForeignRecordings opens the binaries of recordings from Windows and macOS: as Go's
// profiles name them, and as samply does in the format of Firefox.
func TestForeignRecordings(t *testing.T) {
	windows, mac := decodetest.GoBuild(t, hash, "windows/amd64"), decodetest.GoBuild(t, hash, "darwin/arm64")
	file, err := pe.Open(windows)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	o := file.OptionalHeader.(*pe.OptionalHeader64)
	m, err := macho.Open(mac)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var uuid string
	for _, l := range m.Loads {
		if raw := l.Raw(); raw[0] == 0x1b {
			uuid = fmt.Sprintf("%X", raw[8:24])
		}
	}
	text := m.Segment("__TEXT")
	st, err := os.Stat(windows)
	if err != nil {
		t.Fatal(err)
	}
	const loaded = 0x7ff712340000
	zone := time.FixedZone("CEST", 7200)
	goID := func(d time.Duration) string { return `C:\work\program.exe` + st.ModTime().Add(d).In(zone).String() }
	codeID := fmt.Sprintf("%08X%x", file.TimeDateStamp, o.SizeOfImage)
	for _, c := range []struct {
		name, path, format, file, id string
		base                         uint64 // where the program was linked for
		mapped                       bool
		verified                     string // kind of the id, "" for none
		doubt, err                   string
	}{
		{"Go on Windows", windows, "pprof", `C:\work\program.exe`, goID(0), o.ImageBase, true, "modification time", "", ""},
		{"Go on Windows, another time", windows, "pprof", `C:\work\program.exe`, goID(-time.Hour), o.ImageBase, true, "", "the recorded binary was written at ", ""},
		{"Go on macOS", mac, "pprof", "/Users/a/program.exe", "", text.Addr, true, "", "the recording has no build id", ""},
		{"samply on Windows", windows, "firefox", "program.exe", codeID, o.ImageBase, false, "time stamp and size", "", ""},
		{"samply on Windows, another size", windows, "firefox", "program.exe", codeID + "0", o.ImageBase, false, "", "", "its time stamp and size is "},
		{"samply on macOS", mac, "firefox", "program.exe", uuid, text.Addr, false, "build id", "", ""},
		{"samply on macOS, Breakpad's id", mac, "firefox", "program.exe", uuid + "0", text.Addr, false, "build id", "", ""},
		{"samply on macOS, another id", mac, "firefox", "program.exe", strings.Repeat("AB", 16), text.Addr, false, "", "", "not the recorded binary"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := objdumpOf(t, c.path)
			b := recording.NewBuilder()
			b.Source().Format = c.format
			b.AddEvent(recording.Event{Name: "cpu", Metrics: []recording.Metric{{Name: "samples"}}})
			var mapping uint16
			if c.mapped {
				mapping = b.Mapping(recording.Mapping{Start: loaded, Limit: loaded + 0x1000000, File: c.file, BuildID: c.id})
			}
			fn := b.Function(recording.Function{Name: "main.hash", Module: c.file})
			count := map[uint64]int64{}
			for i, x := range want {
				f := recording.Frame{Func: fn, BuildID: c.id, Mapping: mapping, Addr: x.at - c.base}
				if c.mapped {
					f.Addr, f.BuildID = f.Addr+loaded, ""
				}
				count[x.at] = int64(3*i + 1)
				b.AddStack(0, b.Stack([]recording.FrameID{b.Frame(f)}), recording.NoTrack, 0, []int64{count[x.at]})
			}
			l, err := list(t, b.Finish(), assembly.Options{Beside: filepath.Dir(c.path)})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want %s", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if l.Verified != (c.verified != "") || l.Verified && l.IDKind != c.verified || !strings.Contains(l.Doubt, c.doubt) || (l.Doubt == "") != (c.doubt == "") {
				t.Errorf("verified %t by %s, doubt %q", l.Verified, l.IDKind, l.Doubt)
			}
			if len(want) < 8 || len(l.Parts) != 1 || l.Parts[0].Name != "main.hash" {
				t.Fatalf("%d instructions, parts %+v", len(want), l.Parts)
			}
			for _, x := range want {
				i := slices.IndexFunc(l.Insts, func(in assembly.Inst) bool { return in.Addr == x.at })
				if i < 0 {
					t.Fatalf("no instruction at %#x", x.at)
				}
				if in := &l.Insts[i]; in.Self != count[x.at] || in.Line != x.line || filepath.Base(in.File) != "main.go" {
					t.Errorf("%#x: %d in %s:%d; want %d in line %d", x.at, in.Self, in.File, in.Line, count[x.at], x.line)
				}
			}
		})
	}
}
