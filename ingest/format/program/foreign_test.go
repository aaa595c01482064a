package program

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/format/program/disasm"
)

const looping = `package main

import "os"

//go:noinline
func mix(h uint32) uint32 { h ^= h >> 16; h *= 0x85ebca6b; return h ^ h>>13 }

//go:noinline
func spin(n int) (h uint32) {
	for i := range n {
		h = mix(h + uint32(i))
	}
	return h
}

func main() { os.Exit(int(spin(len(os.Args)*1000) & 1)) }
`

var printed = regexp.MustCompile(`^  (\S*):(-?\d+)\t+0x([0-9a-f]+)\t+([0-9a-f]+)\t+(\S.*?)\s*$`)

// TestForeignPrograms compares names, instructions and source lines of programs for Windows and
// macOS with what Go's objdump prints, which takes lines from another table.
func TestForeignPrograms(t *testing.T) {
	for _, system := range []string{"windows/amd64", "darwin/arm64"} {
		t.Run(system, func(t *testing.T) {
			path := decodetest.GoBuild(t, looping, system)
			out, err := exec.Command("go", "tool", "objdump", "-s", `^(main|os|runtime)\.`, path).Output()
			if err != nil {
				t.Fatal(err)
			}
			p, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			p.FindUnits()
			if p.Without != "" || !p.HasCode() || p.Stripped() {
				t.Fatalf("%q, code %t", p.Without, p.HasCode())
			}
			functions, instructions, without := 0, 0, 0
			var skip uint64
			var decoded map[uint64]disasm.Inst
			var code []byte
			var in Function
			for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
				if title, ok := strings.CutPrefix(s.Text(), "TEXT "); ok {
					title, _, _ = strings.Cut(title, "(SB)")
					decoded, in = nil, Function{Name: title}
					functions++
					continue
				}
				m := printed.FindStringSubmatch(s.Text())
				if m == nil {
					if strings.TrimSpace(s.Text()) != "" {
						t.Fatalf("objdump prints %q", s.Text())
					}
					continue
				}
				var at uint64
				fmt.Sscanf(m[3], "%x", &at)
				if decoded == nil {
					fn, ok := p.FunctionAt(at)
					if !ok || fn.Low != at || fn.Name != in.Name {
						t.Fatalf("%#x is in %+v, %t; want the start of %s", at, fn, ok, in.Name)
					}
					if code, err = p.Code(fn); err != nil {
						t.Fatal(err)
					}
					in, decoded = fn, map[uint64]disasm.Inst{}
					d, err := disasm.New(p.Machine(), p.Order(), disasm.Go, nil)
					if err != nil {
						t.Fatal(err)
					}
					for _, i := range d.Decode(code, fn.Low) {
						decoded[i.Addr] = i
					}
				}
				if m[5] == "INT $0x3" || m[5] == "?" || at >= in.High || at < skip { // filler
					continue
				}
				got, ok := decoded[at]
				if !ok {
					t.Fatalf("%s has no instruction at %#x, want %s", in.Name, at, m[5])
				}
				raw := hex.EncodeToString(code[at-in.Low:][:got.Size])
				if p.Machine() == elf.EM_AARCH64 { // printed as a number
					raw = fmt.Sprintf("%08x", binary.LittleEndian.Uint32(code[at-in.Low:]))
				}
				mnemonic, _, _ := strings.Cut(got.Text, " ")
				want, _, _ := strings.Cut(m[5], " ")
				if p.Machine() == elf.EM_X86_64 && mnemonic[0] == 'V' {
					skip = in.High // objdump takes it for other instructions, and what follows
				} else if raw != m[4] || mnemonic != want {
					t.Errorf("%#x: %s %s, want %s %s", at, raw, got.Text, m[4], m[5])
				}
				if places := p.Places(at); len(places) == 0 {
					without++ // DWARF does not say
				} else if got := fmt.Sprintf("%s:%d", filepath.Base(places[0].File), places[0].Line); got != m[1]+":"+m[2] {
					t.Errorf("%#x in %s is at %s, want %s:%s", at, in.Name, got, m[1], m[2])
				}
				if instructions++; t.Failed() {
					return
				}
			}
			if without > instructions/50 {
				t.Errorf("%d of %d instructions have no line", without, instructions)
			}
			if functions < 1000 || instructions < 30000 {
				t.Errorf("%d functions and %d instructions", functions, instructions)
			}
		})
	}
}
