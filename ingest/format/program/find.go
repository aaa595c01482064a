package program

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

// Copies lists the paths at which debuggers and perf keep copies of a binary with a build
// id (in hexadecimal), with or without its instructions. The paths need not exist.
func Copies(id string) []string {
	if len(id) < 4 || filepath.Base(id) != id {
		return nil
	}
	paths := []string{filepath.Join("/usr/lib/debug/.build-id", id[:2], id[2:]+".debug")}
	if home, err := os.UserHomeDir(); err == nil {
		cached := filepath.Join(home, ".debug/.build-id", id[:2], id[2:])
		paths = append(paths, filepath.Join(cached, "elf"), filepath.Join(cached, "vdso"))
	}
	return paths
}

// DebugFiles lists the paths at which debuggers look for a binary's separate debug
// information by the binary's name.
func DebugFiles(name string) []string {
	dir, base := filepath.Split(name)
	paths := []string{filepath.Join(dir, ".debug", base+".debug"), filepath.Join(dir, ".debug", base), filepath.Join("/usr/lib/debug", name+".debug")}
	// macOS keeps it beside a program, or beside the folder of an application.
	for _, bundle := range []string{name, filepath.Join(dir, "../..")} {
		paths = append(paths, filepath.Join(bundle+".dSYM", "Contents/Resources/DWARF", base))
	}
	return paths
}

// LinkedFiles lists the paths at which debuggers look for the file with debug information that
// a program names.
func (p *Program) LinkedFiles() []string {
	if p.link == "" || filepath.Base(p.link) != p.link {
		return nil
	}
	dir := filepath.Dir(p.path)
	return []string{filepath.Join(dir, p.link), filepath.Join(dir, ".debug", p.link), filepath.Join("/usr/lib/debug", dir, p.link)}
}

// Describes reports whether the file of d holds the debug information that p was separated
// from: both have the same build id or, if p has none, p names the checksum of the file.
func (d *Program) Describes(p *Program) bool {
	if p.BuildID != nil {
		return d.BuildID != nil && SameID(d.BuildID, p.BuildID)
	}
	const most = 4 << 30
	if p.link == "" {
		return false
	}
	sum := crc32.NewIEEE()
	n, err := io.Copy(sum, io.NewSectionReader(d.closer, 0, most))
	return err == nil && n < most && sum.Sum32() == p.linkSum
}

// HTLHash returns the hash by which OpenTelemetry's profiler names a binary: of its first and
// last 4,096 bytes and its length.
func HTLHash(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	const part = 4096
	h := sha256.New()
	for _, at := range []int64{0, max(0, st.Size()-part)} {
		if _, err := io.Copy(h, io.NewSectionReader(f, at, part)); err != nil {
			return nil, err
		}
	}
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(st.Size())))
	return h.Sum(nil)[:16], nil
}

// SameID compares build ids. perf keeps 20 bytes of them, padded with zeros.
func SameID(a, b []byte) bool {
	short := func(id []byte) []byte { return bytes.TrimRight(id[:min(len(id), 20)], "\x00") }
	return bytes.Equal(short(a), short(b))
}
