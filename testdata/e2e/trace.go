//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A Trace lists the files and sockets that a program and its children asked the system
// for, as seen by strace.
type Trace struct {
	// Wrote lists the files that were opened for writing, created, renamed, changed or
	// removed, including failed attempts. Connected lists the addresses of sockets. Both
	// are sorted and have no duplicates.
	Wrote, Connected []string
}

// Tracer returns the command that runs another command and writes its system calls to a
// file.
func Tracer(t testing.TB, to string) []string {
	return []string{need(t, "strace", "strace"), "-f", "--seccomp-bpf", "-y", "-s", "4096", "-e", "signal=none",
		"-e", "trace=open,openat,openat2,creat,truncate,mkdir,mkdirat,mknod,mknodat,rename,renameat,renameat2,link,linkat,symlink,symlinkat," +
			"unlink,unlinkat,rmdir,chmod,fchmodat,chown,lchown,fchownat,utime,utimes,utimensat,futimesat,setxattr,socket,connect,bind,sendto,sendmsg", "-o", to}
}

var (
	call   = regexp.MustCompile(`^(?:\d+ +)?([a-z0-9]+)\((.*)$`)
	quoted = regexp.MustCompile(`(?:(AT_FDCWD|\d+)(?:<([^>]*)>)?, )?"((?:[^"\\]|\\.)*)"`)
	family = regexp.MustCompile(`sa_family=(AF_[A-Z0-9]+)(.*)`)
	opened = regexp.MustCompile(`O_(WRONLY|RDWR|CREAT|TRUNC)`)
)

// ReadTrace reads a file written by Tracer's command. dir is the program's working
// directory.
func ReadTrace(t testing.TB, path, dir string) Trace {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var tr Trace
	for line := range strings.Lines(string(b)) {
		m := call.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			continue // the second half of a call, or the end of a process
		}
		name, args := m[1], m[2]
		switch name {
		case "socket":
			kind, _, _ := strings.Cut(args, ",")
			if kind != "AF_UNIX" {
				tr.Connected = append(tr.Connected, "socket "+kind)
			}
		case "connect", "bind", "sendto", "sendmsg":
			if a := family.FindStringSubmatch(args); a != nil {
				at, _, _ := strings.Cut(a[2], "}")
				tr.Connected = append(tr.Connected, name+" "+a[1]+at)
			}
		case "open", "openat", "openat2":
			if opened.MatchString(args) {
				tr.Wrote = append(tr.Wrote, paths(args, dir)[:1]...)
			}
		default:
			tr.Wrote = append(tr.Wrote, paths(args, dir)...)
		}
	}
	for _, l := range []*[]string{&tr.Wrote, &tr.Connected} {
		slices.Sort(*l)
		*l = slices.Compact(*l)
	}
	return tr
}

// paths returns the absolute names of the files in a call's arguments.
func paths(args, dir string) []string {
	var found []string
	for _, m := range quoted.FindAllStringSubmatch(args, -1) {
		p, err := strconv.Unquote(`"` + m[3] + `"`)
		if err != nil {
			p = m[3]
		}
		if !filepath.IsAbs(p) {
			at := dir
			if m[2] != "" {
				at = m[2]
			}
			p = filepath.Join(at, p)
		}
		found = append(found, p)
	}
	return append(found, "?")[:max(1, len(found))]
}
