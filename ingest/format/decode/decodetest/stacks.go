package decodetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/model/recording"
)

// Stacks lists the stack records of a recording, one line each, sorted: the event, the
// attributes, the frames from the outermost to the leaf as MODULE`NAME, with [k] after
// kernel frames, and the values by metric.
func Stacks(r *recording.Recording) (out []string) {
	for e, s := range r.Stacks {
		if s == nil {
			continue
		}
		for i := range s.Len() {
			var line strings.Builder
			fmt.Fprintf(&line, "%s {", r.Events[e].Name)
			for n, a := range r.Contexts.At(int(s.Context(i))) {
				if n > 0 {
					line.WriteByte(' ')
				}
				fmt.Fprintf(&line, "%s=%s", a.Key, a.Value)
			}
			line.WriteString("} ")
			for n, c := range r.Calls.Path(nil, s.Call(i)) {
				if n > 0 {
					line.WriteByte(';')
				}
				f := r.Functions.At(int(r.Func(c)))
				if f.Module != "" {
					line.WriteString(f.Module + "`")
				}
				line.WriteString(f.Name)
				if r.Frames.At(int(r.Calls.Frame(c))).Kind == recording.KindKernel {
					line.WriteString("[k]")
				}
			}
			for m := range r.Events[e].Metrics {
				if v := s.Value(i, m); v == recording.Missing {
					line.WriteString(" -")
				} else {
					line.WriteString(" " + recording.Decimal{Mantissa: v, Scale: r.Events[e].Metrics[m].Decimals}.String())
				}
			}
			out = append(out, line.String())
		}
	}
	slices.Sort(out)
	return out
}

// StacksOf reads a text at several chunk sizes, and checks its stacks, in order, and that
// it is recognised.
func StacksOf(t *testing.T, to Decoder, sniff Sniffer, text string, want []string) {
	t.Helper()
	for _, chunk := range []int{0, 1, 13} {
		r, err := Bytes(t, to, []byte(text), chunk)
		if err != nil {
			t.Fatal(err)
		}
		got := Stacks(r)
		for i := range got {
			got[i] = strings.TrimSpace(got[i])
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("chunks of %d:\n%s\nwant\n%s", chunk, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if c, err := sniff([]byte(text), true); c < decode.Likely || err != nil {
		t.Errorf("Sniff = %v, %v", c, err)
	}
}
