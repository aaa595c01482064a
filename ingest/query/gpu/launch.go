package gpu

import (
	"context"
	"strings"

	"ashlar/ingest/model/recording"
)

// correlations are the arguments by which CUPTI and rocprofiler link a call of the runtime
// to the work it launched, as PyTorch, JAX and Nsight's exports name them.
var correlations = []string{`"correlation":`, `"correlation_id":`, `"correlationId":`}

// correlation returns the link in a span's arguments, "" for none.
func correlation(args string) string {
	for _, key := range correlations {
		if _, v, ok := strings.Cut(args, key); ok {
			v = strings.TrimLeft(v, ` "`)
			if end := strings.IndexFunc(v, func(r rune) bool { return r < '0' || r > '9' }); end > 0 {
				return v[:end]
			}
		}
	}
	return ""
}

func (w *Work) correlation(rec *recording.Recording) string {
	if w.args == 0 || rec.Args == nil {
		return ""
	}
	return correlation(rec.Args(w.args))
}

// moment is a time on a track.
type moment struct {
	track int
	time  int64
}

// launches finds the launch of each work: by the correlation in their arguments, or else
// by an arrow that ends where the work starts.
func launches(ctx context.Context, rec *recording.Recording, devices []*Device) error {
	stream := map[int]bool{}
	for _, d := range devices {
		for _, t := range d.Streams {
			stream[t] = true
		}
	}
	called := map[string]Span{}
	for i, t := range rec.Tracks {
		if stream[i] || t.Kind != recording.ThreadTrack || rec.Args == nil {
			continue
		}
		for k := range t.Lanes {
			if err := ctx.Err(); err != nil {
				return err
			}
			l := &t.Lanes[k]
			if !l.HasArgs() {
				continue
			}
			for n := range l.Len() {
				ref := l.Args(n)
				if ref == 0 || !runtimeCall(rec, l.Call(n)) {
					continue
				}
				if c := correlation(rec.Args(ref)); c != "" && c != "0" {
					called[c] = Span{i, l.Call(n), l.Start(n), l.End(n)}
				}
			}
		}
	}
	sent := map[moment]moment{}
	for i := range rec.Flows {
		steps := rec.Flows[i].Steps
		for k := 1; k < len(steps); k++ {
			if stream[steps[k].Track] && !stream[steps[k-1].Track] {
				sent[moment{steps[k].Track, steps[k].Time}] = moment{steps[k-1].Track, steps[k-1].Time}
			}
		}
	}
	for _, d := range devices {
		for i := range d.Work {
			w := &d.Work[i]
			if s, ok := called[w.correlation(rec)]; ok && s.Start <= w.Start {
				w.Launch = s
			} else if m, ok := sent[moment{w.Track, w.Start}]; ok && m.time <= w.Start {
				w.Launch = Span{m.track, recording.NoCall, m.time, m.time}
			}
		}
	}
	return nil
}

// runtimeCall reports whether a call is one of CUDA's or HIP's: only these launch work.
func runtimeCall(rec *recording.Recording, call recording.CallID) bool {
	f := rec.Functions.At(int(rec.Func(call)))
	return f.Module == "cuda_runtime" || f.Module == "cuda_driver" || f.Module == "Runtime" ||
		strings.HasPrefix(f.Name, "cuda") || strings.HasPrefix(f.Name, "cu") || strings.HasPrefix(f.Name, "hip")
}
