package memory

import (
	"math"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// kernel locates the kernel's files about memory; tests use files of their own.
type kernel struct {
	root   string // "" except in tests
	groups func() []group
}

var this = kernel{groups: sync.OnceValue(func() []group { return groups("") })}

// available returns how many bytes the system, and every control group of this process,
// can give without swapping.
func available() (int64, bool) { return this.available() }

func (k *kernel) available() (int64, bool) {
	n, known := field(k.root+"/proc/meminfo", "MemAvailable:")
	n <<= 10
	for _, g := range k.groups() {
		if left, ok := g.left(); ok && (!known || left < n) {
			n, known = left, true
		}
	}
	return n, known
}

// addresses returns how many more bytes of address space this process may use: see
// setrlimit(2), RLIMIT_AS.
func addresses() (int64, bool) {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &limit) != nil || limit.Cur > math.MaxInt64 {
		return 0, false
	}
	used, ok := field("/proc/self/status", "VmSize:")
	return int64(limit.Cur) - used<<10, ok
}

// group is a control group that may limit memory: its folder, and whether it is of
// version 2.
type group struct {
	folder string
	v2     bool
}

// groups returns the control groups of this process and their ancestors, because a limit
// on any of them applies, such as that of the systemd slice the program runs in.
// /proc/self/cgroup and mountinfo are described in cgroups(7) and proc(5).
func groups(root string) (all []group) {
	paths := map[bool]string{} // the key is true for version 2
	for line := range lines(root + "/proc/self/cgroup") {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		switch {
		case len(f) < 3:
		case f[0] == "0" && f[1] == "":
			paths[true] = f[2]
		case has(f[1], "memory"):
			paths[false] = f[2]
		}
	}
	for line := range lines(root + "/proc/self/mountinfo") {
		mount, kind, ok := strings.Cut(line, " - ")
		m, k := strings.Fields(mount), strings.Fields(kind)
		if !ok || len(m) < 5 || len(k) < 3 {
			continue
		}
		v2 := k[0] == "cgroup2"
		if in, ok := paths[v2]; !ok || !v2 && (k[0] != "cgroup" || !has(k[2], "memory")) {
			continue
		} else {
			// The mount may show a part of the tree only.
			in, shown := strings.CutPrefix(in, strings.TrimSuffix(m[3], "/"))
			if !shown {
				in = ""
			}
			for in = path.Clean("/" + in); ; in = path.Dir(in) {
				all = append(all, group{root + m[4] + in, v2})
				if in == "/" {
					break
				}
			}
		}
	}
	return all
}

// left returns the memory that the group may still use. The file cache counts as free
// because it can be reclaimed.
func (g group) left() (int64, bool) {
	limits, usage, cached := []string{"memory.max", "memory.high"}, "memory.current", "file"
	if !g.v2 {
		limits, usage, cached = []string{"memory.limit_in_bytes"}, "memory.usage_in_bytes", "total_cache"
	}
	most, limited := int64(math.MaxInt64), false
	for _, name := range limits {
		if n, ok := number(g.folder + "/" + name); ok && n < 1<<60 {
			most, limited = min(most, n), true
		}
	}
	if !limited {
		return 0, false
	}
	used, ok := number(g.folder + "/" + usage)
	files, _ := field(g.folder+"/memory.stat", cached)
	return most - used + files, ok
}

// number reads a file that holds one number.
func number(name string) (int64, bool) {
	b, err := os.ReadFile(name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	return n, err == nil
}

// field returns the number after a name at the start of a line.
func field(file, name string) (int64, bool) {
	for line := range lines(file) {
		f := strings.Fields(line)
		if len(f) >= 2 && f[0] == name {
			n, err := strconv.ParseInt(f[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

func lines(file string) func(func(string) bool) {
	b, _ := os.ReadFile(file)
	return strings.Lines(string(b))
}

// has reports whether a comma-separated list contains a word.
func has(list, word string) bool { return strings.Contains(","+list+",", ","+word+",") }
