package perfetto

import "ashlar/ingest/format/decode"

// words maps ids to strings. Writers count ids up from one, so most strings need no map.
type words struct {
	dense  []string
	sparse map[uint64]string
	quoted [][]byte // entries of dense as JSON, once quote has been called for them
}

// sparsest is the largest gap in the ids that dense may grow over: a few bytes of a file
// must not cost much memory.
const sparsest = 8

func (w *words) get(n uint64) string {
	if w == nil {
		return ""
	}
	if n < uint64(len(w.dense)) && w.dense[n] != "" {
		return w.dense[n]
	}
	return w.sparse[n]
}

// set stores a string under id n.
func (w *words) set(n uint64, text string) {
	room := len(w.dense)+len(w.sparse) < mostInterned
	_, apart := w.sparse[n]
	switch {
	case !apart && (n < uint64(len(w.dense)) || room && n <= uint64(len(w.dense)+sparsest)):
		for n >= uint64(len(w.dense)) {
			w.dense = append(w.dense, "")
		}
		if n < uint64(len(w.quoted)) {
			w.quoted[n] = nil
		}
		w.dense[n] = text
	case apart || room:
		if w.sparse == nil {
			w.sparse = map[uint64]string{}
		}
		w.sparse[n] = text
	}
}

// quote appends the string with id n as JSON.
func (w *words) quote(to []byte, n uint64) []byte {
	if w == nil || n >= uint64(len(w.dense)) || w.dense[n] == "" {
		return append(to, decode.Quoted(w.get(n))...)
	}
	for n >= uint64(len(w.quoted)) {
		w.quoted = append(w.quoted, nil)
	}
	if w.quoted[n] == nil {
		w.quoted[n] = decode.Quoted(w.dense[n])
	}
	return append(to, w.quoted[n]...)
}

// count returns the number of strings; all yields them.
func (w *words) count() (n int) {
	for range w.all {
		n++
	}
	return n
}

func (w *words) all(yield func(n uint64, text string) bool) {
	for n, text := range w.dense {
		if text != "" && !yield(uint64(n), text) {
			return
		}
	}
	for n, text := range w.sparse {
		if text != "" && (n >= uint64(len(w.dense)) || w.dense[n] == "") && !yield(n, text) {
			return
		}
	}
}
