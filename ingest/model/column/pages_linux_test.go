package column

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"
)

// TestLargePages checks that the memory of a long column has the flag hg in
// /proc/self/smaps: large pages were requested.
func TestLargePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage/enabled"); err != nil {
		t.Skip("this kernel has no large pages")
	}
	v := On[int64](new(Shelf))
	for i := range int64(3 * ChunkLen) {
		v.Append(i)
	}
	for i := 0; i < v.Len(); i += ChunkLen {
		chunk := v.Chunk(i)
		addr := uintptr(unsafe.Pointer(&chunk[len(chunk)/2]))
		if flags := flagsOf(t, addr); !strings.Contains(flags+" ", " hg ") {
			t.Errorf("chunk %d is in memory with the flags%s, not hg", i/ChunkLen, flags)
		}
	}
}

// flagsOf returns the flags of the mapping that contains an address.
func flagsOf(t *testing.T, addr uintptr) string {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	within := false
	for s := bufio.NewScanner(f); s.Scan(); {
		var from, to uintptr
		if n, _ := fmt.Sscanf(s.Text(), "%x-%x ", &from, &to); n == 2 {
			within = from <= addr && addr < to
		}
		if flags, ok := strings.CutPrefix(s.Text(), "VmFlags:"); ok && within {
			return flags
		}
	}
	t.Fatalf("no mapping has %#x", addr)
	return ""
}
