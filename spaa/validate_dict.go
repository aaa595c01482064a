package spaa

import (
	"hash/maphash"
	"path"
	"strings"
)

type dsoInfo struct {
	hash   uint64 // hash of name and build id
	kernel bool
	isPath bool
	// module is the name if it looks like a kernel module as perf writes it ([nf_tables]) and
	// is_kernel is not true. A kernel frame in it shows that is_kernel is missing. line is the
	// line of the record.
	module string
	line   int64
}

// frameInfo is the part of a frame that is needed to check stacks.
type frameInfo struct {
	identity uint64 // hash of function, dso and offset
	dso      int64
	ip       uint64 // hash of the text, 0 if absent
	symoff   uint64
	depth    int64 // inline_depth, -1 if absent
	inlined  bool
	kind     byte // 'u' user, 'k' kernel, '?' other; 0 is not a frame
}

type buildIDGap struct {
	line int64
	name string
}

const maxBuildIDGaps = 1000

func (v *validator) hash(parts ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(v.seed)
	var n [8]byte
	for _, p := range parts {
		for i := range n {
			n[i] = byte(len(p) >> (8 * i))
		}
		_, _ = h.Write(n[:]) // never fails
		_, _ = h.WriteString(p)
	}
	return h.Sum64()
}

func (v *validator) checkDSO(d *DSO) {
	name, hasBuild := d.Name, given(d.BuildID, d.Extra, "build_id")
	if hasBuild && !isLowerHex(d.BuildID) {
		v.add("build-id-format", "the build id %q of dso %q is not lower-case hexadecimal digits", d.BuildID, name)
	}
	if isKernelImage(name) && !d.IsKernel.Or(false) {
		v.add("dso-kernel", "dso %q is a kernel image, but is_kernel is not true", name)
	}
	if hasBuild {
		v.anyBuild = true
	} else if strings.HasPrefix(name, "/") && len(v.noBuildID) < maxBuildIDGaps {
		v.noBuildID = append(v.noBuildID, buildIDGap{v.lines.line, strings.Clone(name)})
	}
	id := d.ID
	if v.parser.Lacks("id") {
		return
	}
	if _, ok := v.dsos[id]; ok {
		v.add("dso-id-unique", "dso %d was defined before", id)
		return
	}
	info := dsoInfo{hash: v.hash(d.Name, d.BuildID), kernel: d.IsKernel.Or(false), isPath: strings.HasPrefix(name, "/"), line: v.lines.line}
	if !info.kernel && !isKernelImage(name) && isBracketed(name) {
		info.module = strings.Clone(name)
	}
	v.dsos[id] = info
	v.came("dso", v.wantDSO, id)
}

// userMemory are names in brackets that stand for memory and not for a kernel module.
var userMemory = in("[vdso]", "[vvar]", "[vsyscall]", "[vectors]", "[sigpage]", "[uprobes]", "[heap]", "[stack]", "[anon]", "[unknown]")

// isBracketed reports whether name is a name in brackets that a kernel module may have.
func isBracketed(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	return len(name) > 2 && name[0] == '[' && name[len(name)-1] == ']' && strings.Trim(name[1:len(name)-1], letters) == "" && !userMemory(name)
}

func isLowerHex(s string) bool {
	for _, c := range []byte(s) {
		if !isHex(c) || c >= 'A' && c <= 'F' {
			return false
		}
	}
	return len(s) > 0
}

// isKernelImage reports whether name is one of the names that perf or DTrace gives to
// kernels and kernel modules.
func isKernelImage(name string) bool {
	if strings.HasPrefix(name, "[kernel") || strings.HasPrefix(name, "[guest.kernel") {
		return true
	}
	base := path.Base(name)
	if base == "mach_kernel" || base == "vmlinux" || strings.HasPrefix(base, "vmlinux-") {
		return true
	}
	for _, compressed := range []string{".gz", ".xz", ".zst"} {
		base = strings.TrimSuffix(base, compressed)
	}
	return strings.HasSuffix(base, ".ko")
}

// isHexText reports whether s is "0x" and hexadecimal digits.
func isHexText(s string) bool {
	if len(s) < 3 || s[0] != '0' || s[1] != 'x' {
		return false
	}
	for _, c := range []byte(s[2:]) {
		if !isHex(c) {
			return false
		}
	}
	return true
}

func (v *validator) checkFrame(f *Frame) {
	switch f.Kind {
	case "user", "kernel", "unknown":
	default:
		v.add("frame-kind", "the kind of the frame is %q, but must be user, kernel or unknown", f.Kind)
	}
	if !f.FuncResolved.Or(true) && !isHexText(f.Func) && !isLowerHex(f.Func) {
		v.add("func-address", "func_resolved is false, but func %q is not a hexadecimal address", f.Func)
	}
	if given(f.IP, f.Extra, "ip") && !isHexText(f.IP) {
		v.add("hex-address", `ip %q is not "0x" and hexadecimal digits`, f.IP)
	}
	if given(f.SymOff, f.Extra, "symoff") && !isHexText(f.SymOff) {
		v.add("hex-address", `symoff %q is not "0x" and hexadecimal digits`, f.SymOff)
	}
	depth := f.InlineDepth.Or(-1)
	if f.InlineDepth.OK && (depth < 0 || f.Inlined.Or(false) != (depth > 0)) {
		v.add("inline-depth", "inlined is %v, but inline_depth is %d", f.Inlined.Or(false), depth)
	}
	dso := v.frameDSO(f)
	id := f.ID
	if v.parser.Lacks("id") {
		return
	}
	if _, ok := v.frames[id]; ok {
		v.add("frame-id-unique", "frame %d was defined before", id)
		return
	}
	info := frameInfo{
		identity: v.hash(f.Func, f.SymOff) ^ dso.hash, dso: f.DSO, depth: depth,
		inlined: f.Inlined.Or(false) || depth > 0, kind: '?',
	}
	if f.IP != "" {
		info.ip = v.hash(f.IP)
	}
	if f.SymOff != "" {
		info.symoff = v.hash(f.SymOff)
	}
	switch f.Kind {
	case "user", "kernel":
		info.kind = f.Kind[0]
	}
	v.frames[id] = info
	v.came("frame", v.wantFrame, id)
}

// frameDSO checks the frame's reference and returns the information on its dso.
func (v *validator) frameDSO(f *Frame) dsoInfo {
	if v.parser.Lacks("dso") {
		v.add("frame-dso", "the frame references no dso")
		return dsoInfo{}
	}
	dso, ok := v.dsos[f.DSO]
	if !ok {
		if !v.want(v.wantDSO, f.DSO) {
			v.add("frame-dso", "the frame references dso %d, which is not defined before it", f.DSO)
		}
		return dsoInfo{}
	}
	if f.Kind == "kernel" && dso.module != "" {
		v.addAt(dso.line, "dso-kernel", "dso %q has kernel frames, but is_kernel is not true", dso.module)
		dso.module = ""
		v.dsos[f.DSO] = dso
	}
	if f.Kind == "kernel" && dso.isPath && !dso.kernel {
		v.add("frame-kernel-dso", "a kernel frame lies in dso %d, which is not a kernel dso", f.DSO)
	}
	return dso
}

// want records a reference to a record not yet seen; it returns false if there are too
// many to hold.
func (v *validator) want(m map[int64]int64, id int64) bool {
	if _, ok := m[id]; ok {
		return true
	}
	if len(m) >= v.opts.MaxPending {
		return false
	}
	m[id] = v.lines.line
	return true
}

// came reports an earlier reference to a record that has only now been read.
func (v *validator) came(what string, wanted map[int64]int64, id int64) {
	if line, ok := wanted[id]; ok {
		delete(wanted, id)
		v.addAt(line, "dictionary-first", "%s %d is referenced here, before its record on line %d", what, id, v.lines.line)
	}
}

func (v *validator) checkThread(t *Thread) {
	tid := t.TID
	if v.parser.Lacks("tid") {
		return
	}
	if _, ok := v.threads[tid]; ok {
		v.add("thread-tid-unique", "thread %d was defined before", tid)
		return
	}
	v.threads[tid] = struct{}{}
	v.came("thread", v.wantThread, tid)
}

func (v *validator) nameThread(tid Opt[int64]) {
	if !tid.OK {
		return
	}
	if _, ok := v.threads[tid.V]; !ok && !v.want(v.wantThread, tid.V) {
		v.add("thread-record", "no thread record before this line has the tid %d", tid.V)
	}
}
