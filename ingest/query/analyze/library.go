package analyze

import (
	"strings"

	"ashlar/ingest/model/recording"
)

// Library returns for each function of a recording whether it is library code rather than the
// program's own. ok is false if no function is.
func Library(rec *recording.Recording) (is []bool, ok bool) {
	is = make([]bool, rec.Functions.Len())
	placed := 0
	for i := range is {
		if f := rec.Functions.At(i); f.File != "" || f.Module != "" {
			placed++
		}
	}
	for i := range is {
		f := rec.Functions.At(i)
		pseudo := strings.HasPrefix(f.Name, "[") || strings.HasPrefix(f.Name, "(") || f.Unresolved
		// If most functions have a file or module, a function without either is built into the
		// runtime.
		is[i] = pseudo || f.Library() || f.File == "" && f.Module == "" && 2*placed > len(is)
		ok = ok || is[i]
	}
	return is, ok
}

// hideLibrary merges library code into its callers.
func (p *callPaths) hideLibrary() {
	is, _ := Library(p.rec)
	p.pass(func(i, up int32) int32 {
		if k := p.key[i]; k < p.functions && is[k] || k >= p.functions && p.groups[k-p.functions].Library() {
			return up
		}
		return become
	})
}
