package perfetto

import "ashlar/ingest/decode"

// words are texts by number. Writers count from one on, which needs no map.
type words struct {
	dense  []string
	sparse map[uint64]string
	quoted [][]byte // dense as JSON, as far as it was asked for
}

// sparsest is how many numbers may be left out where there is no map yet: a few bytes of
// a file must not cost much memory.
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

// set keeps a text; it reports whether it was another one before.
func (w *words) set(n uint64, text []byte) (changed bool) {
	if w.get(n) == string(text) {
		return false
	}
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
		w.dense[n] = string(text)
	case apart || room:
		if w.sparse == nil {
			w.sparse = map[uint64]string{}
		}
		w.sparse[n] = string(text)
	}
	return true
}

// quote appends a text as JSON.
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
