//go:build linux

package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// machine describes where the measurements were made.
type machine struct {
	CPU    string  `json:"cpu"`
	Cores  int     `json:"cores"`
	Memory int64   `json:"memory_bytes"`
	System string  `json:"system"`
	Go     string  `json:"go"`
	Nice   int     `json:"nice"`
	Load   float64 `json:"load"` // load of the last minute, at the start
}

func (m machine) String() string {
	return fmt.Sprintf("%s, %d cores, %d GB, %s, %s", m.CPU, m.Cores, (m.Memory+1<<29)>>30, m.System, m.Go)
}

func thisMachine() machine {
	m := machine{Cores: runtime.NumCPU(), Go: runtime.Version(), CPU: field("/proc/cpuinfo", "model name")}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		m.Memory = int64(info.Totalram) * int64(info.Unit)
		m.Load = float64(info.Loads[0]) / (1 << 16)
	}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		m.System = "Linux " + unix.ByteSliceToString(name.Release[:])
	}
	if n, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil {
		m.Nice = 20 - n // the raw system call returns 20 - nice
	}
	return m
}

// field returns the value in the first line of a file that begins with a name.
func field(path, name string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), name); ok {
			_, value, _ := strings.Cut(rest, ":")
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// kilobytes returns a field of /proc/…/status in bytes, 0 if it is missing.
func kilobytes(path, name string) int64 {
	n, err := strconv.ParseInt(strings.TrimSuffix(field(path, name), " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return n << 10
}

// ticks is the CPU time used by all programs: at normal or higher priority, at lower
// priority, and idle.
type ticks struct{ normal, low, idle float64 }

func now() ticks {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return ticks{}
	}
	line, _, _ := strings.Cut(string(b), "\n")
	var f [8]float64
	for i, s := range strings.Fields(line)[1:] {
		if i < len(f) {
			f[i], _ = strconv.ParseFloat(s, 64)
		}
	}
	const perSecond = 100 // USER_HZ
	return ticks{(f[0] + f[2] + f[5] + f[6] + f[7]) / perSecond, f[1] / perSecond, (f[3] + f[4]) / perSecond}
}

// others returns the share of the machine's CPU time since t that other programs of
// normal priority used; own is the CPU time that this program used, in seconds.
func (t ticks) others(own float64) float64 {
	n := now()
	all := n.normal + n.low + n.idle - t.normal - t.low - t.idle
	if all <= 0 {
		return 0
	}
	return min(1, max(0, (n.normal-t.normal-own)/all))
}

// quiet waits until other programs, except those of low priority, leave the machine nearly
// idle, for a limited time.
func (b *bench) quiet() {
	const enough = .1
	for end := time.Now().Add(b.wait); time.Now().Before(end); {
		t := now()
		time.Sleep(400 * time.Millisecond)
		if t.others(0) < enough {
			return
		}
	}
}
