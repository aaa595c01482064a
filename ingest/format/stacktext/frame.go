package stacktext

import (
	"bytes"
	"path"
	"strconv"
	"strings"

	"ashlar/ingest/format/program"
	"ashlar/ingest/model/recording"
)

// Frame is one line of a stack.
type Frame struct {
	Name, Module string // Name is "" if only the address is known
	File         string
	Line, Column int32
	Offset, Addr uint64
	Kind         recording.Kind
}

// kernelSpace is the first kernel address on 64-bit x86 and ARM, userSpace the end of user
// addresses.
const (
	kernelSpace = 0xffff_8000_0000_0000
	userSpace   = 0x0000_8000_0000_0000
)

// kernels are module names of the kernel on systems other than Linux.
var kernels = map[string]bool{
	"unix": true, "genunix": true, "zfs": true, "sockfs": true, "ip": true, "specfs": true, "ufs": true, "nfs": true, // illumos, Solaris
	"kernel": true, "mach_kernel": true, // FreeBSD, macOS
	"nt": true, "ntoskrnl": true, "ntkrnlmp": true, "hal": true, "fltmgr": true, "win32k": true, "win32kfull": true, "win32kbase": true, // Windows
	"vmlinux": true,
}

// entries are the functions through which the Linux kernel is entered. They are outermost
// in kernel stacks.
var entries = map[string]bool{
	"entry_SYSCALL_64_after_hwframe": true, "entry_SYSCALL_64_fastpath": true, "entry_SYSCALL_64": true,
	"do_syscall_64": true, "system_call_fastpath": true, "ret_from_fork": true, "ret_from_fork_asm": true,
	"secondary_startup_64": true, "secondary_startup_64_no_verify": true, "start_secondary": true,
	"el0t_64_sync": true, "el0_sync": true, "el0_svc": true, "el1h_64_irq": true, "__secondary_switched": true,
	"asm_sysvec_apic_timer_interrupt": true, "asm_exc_page_fault": true, "page_fault": true,
	"kthread": true, "common_interrupt": true, "asm_common_interrupt": true,
}

// outermost are functions in which programs begin.
var outermost = map[string]bool{
	"main": true, "_start": true, "start": true, "__libc_start_main": true, "__libc_start_call_main": true,
	"start_thread": true, "thread_start": true, "_pthread_start": true, "clone": true, "__clone": true, "clone3": true, "__clone3": true,
	"_thrp_setup": true, "_lwp_start": true, "BaseThreadInitThunk": true, "RtlUserThreadStart": true, "runtime.goexit": true,
}

// side returns evidence of where a frame runs: positive in the kernel, negative in a
// program, 0 if unknown.
func (f *Frame) side() int {
	base := strings.ToLower(strings.TrimSuffix(path.Base(f.Module), ".sys"))
	switch {
	case f.Kind == recording.KindKernel, f.Addr >= kernelSpace, f.Module != "" && program.IsKernel(f.Module),
		kernels[base], strings.HasPrefix(base, "com.apple."), strings.HasSuffix(f.Module, ".ko"), strings.HasSuffix(f.Module, ".sys"):
		return 4
	case f.Module == "" && entries[f.Name]:
		return 2
	case f.Kind == recording.KindUser, f.Addr != 0 && f.Addr < userSpace, strings.Contains(base, ".so"), strings.HasSuffix(base, ".dylib"),
		strings.HasSuffix(base, ".dll"), strings.HasSuffix(base, ".exe"), base == "a.out", base == "ntdll", base == "kernel32", base == "dyld":
		return -4
	case outermost[f.Name]:
		return -2
	}
	return 0
}

// side returns the sum of the evidence from the frames of a stack.
func side(stack []Frame) (sum int) {
	for i := range stack {
		sum += stack[i].side()
	}
	return sum
}

// Join makes one stack of the parts that were printed for a sample, all leaf first: the
// kernel's frames precede the leaf of the program's. If nothing tells which part is the
// kernel's, the first is taken, because scripts print it first.
func Join(parts [][]Frame) []Frame {
	switch len(parts) {
	case 0:
		return nil
	case 1:
		Split(parts[0])
		return parts[0]
	}
	sides := make([]int, len(parts))
	last := 0
	for i, p := range parts {
		sides[i] = side(p)
		if sides[i] > sides[last] {
			last = i // most likely the kernel's
		}
	}
	var kernel, user []Frame
	for i, p := range parts {
		inKernel := i == last || sides[i] > 0
		if inKernel {
			mark(p, 1)
			kernel = append(kernel, p...)
		} else {
			mark(p, -1)
			user = append(user, p...)
		}
	}
	return append(kernel, user...)
}

// Split marks the frames of a stack, leaf first, whose kernel and user frames were printed
// as one. Frames up to the function through which the kernel was entered are kernel frames.
func Split(stack []Frame) {
	last := len(stack) - 1
	for last >= 0 && stack[last].side() <= 0 {
		last--
	}
	outer := stack[last+1:]
	switch {
	case last < 0:
		mark(stack, side(stack))
	case entries[stack[last].Name] || side(outer) < 0:
		mark(stack[:last+1], 1)
		mark(outer, -1)
	default:
		mark(stack, 1)
	}
}

// mark sets the kind of frames without one, from the sign of side.
func mark(stack []Frame, side int) {
	kind := recording.KindUnknown
	switch {
	case side > 0:
		kind = recording.KindKernel
	case side < 0:
		kind = recording.KindUser
	}
	for i := range stack {
		if stack[i].Kind == recording.KindUnknown {
			stack[i].Kind = kind
		}
	}
}

// Hex parses a hexadecimal address. Without 0x, it must have least or more digits.
func Hex(s string, least int) (uint64, bool) {
	if t := strings.TrimPrefix(s, "0x"); t != s {
		s, least = t, 1
	}
	if len(s) < least || len(s) > 16 {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 16, 64)
	return n, err == nil
}

// Offset splits a suffix like "+0x1f" from a name, or like "+31" if base is 10.
func Offset(s string, base int) (string, uint64) {
	mark := "+0x"
	if base == 10 {
		mark = "+"
	}
	i := strings.LastIndex(s, mark)
	if i <= 0 {
		return s, 0
	}
	n, err := strconv.ParseUint(s[i+len(mark):], base, 64)
	if err != nil {
		return s, 0
	}
	return s[:i], n
}

// Number parses a decimal integer.
func Number(s []byte) (int64, bool) {
	if len(s) == 0 || len(s) > 20 || s[0] == '+' {
		return 0, false
	}
	n, err := strconv.ParseInt(string(s), 10, 64)
	return n, err == nil && n != recording.Missing
}

// Indent returns the width of the white space at the start of a line, in columns; tab
// stops are every 8 columns.
func Indent(line []byte) int {
	n := 0
	for _, c := range line {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 8 - n%8
		default:
			return n
		}
	}
	return n
}

// Bar removes the "|@@@ |" of a histogram from a row and returns the text before and
// after it.
func Bar(row []byte) (before, behind []byte, ok bool) {
	i := bytes.IndexByte(row, '|')
	if i < 0 {
		return nil, nil, false
	}
	rest := bytes.TrimLeft(row[i+1:], "@ ")
	rest = bytes.TrimPrefix(rest, []byte("|"))
	return bytes.TrimSpace(row[:i]), bytes.TrimSpace(rest), true
}
