package gpu

import (
	"context"
	"strings"

	"ashlar/ingest/input/jsonscan"
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

// moment is a time on a track.
type moment = recording.FlowStep

// inner finds the innermost calls of threads.
type inner struct {
	rec     *recording.Recording
	columns map[int][][]int // by track
}

func newInner(rec *recording.Recording) inner { return inner{rec, map[int][][]int{}} }

// at returns the innermost call of a thread at a moment.
func (n inner) at(track int, at int64) (call recording.CallID) {
	call = recording.NoCall
	for _, column := range n.of(track) {
		n.rec.Tracks[track].Innermost(column, recording.NoCall, at, at+1, func(in recording.CallID, _ int64) {
			if in != recording.NoCall {
				call = in
			}
		})
	}
	return call
}

func (n inner) of(track int) [][]int {
	all, ok := n.columns[track]
	if !ok {
		all = n.rec.Tracks[track].Columns(&n.rec.Calls)
		n.columns[track] = all
	}
	return all
}

// launches finds the launch of each piece of work: by the correlation in their arguments, or else
// by an arrow that ends where the work starts. For work without one, it finds the operator. It
// also finds out which work communicates.
func launches(ctx context.Context, rec *recording.Recording, devices []*Device) error {
	stream := map[int]bool{}
	for _, d := range devices {
		for _, t := range d.Streams {
			stream[t] = true
		}
	}
	called := map[launchID]Span{}
	if err := eachArgs(ctx, rec, stream, func(s Span, ref uint64) {
		if runtimeCall(rec, s.Call) {
			if c := correlation(rec.Args(ref)); c != "" && c != "0" {
				called[idOf(rec, s.Track, c)] = s
			}
		}
	}); err != nil {
		return err
	}
	sent := map[moment]moment{}
	for i := range rec.Flows {
		steps := rec.Flows[i].Steps
		for k := 1; k < len(steps); k++ {
			if stream[steps[k].Track] && !stream[steps[k-1].Track] {
				sent[steps[k]] = steps[k-1]
			}
		}
	}
	calls, lost := newInner(rec), map[launchID][]*Work{} // lost: by external, without a launch
	collective := map[string]bool{}                      // by name
	for _, d := range devices {
		for i := range d.Work {
			w := &d.Work[i]
			args := w.Args(rec)
			name := rec.FuncName(w.Call)
			if strings.Contains(args, `"hlo_op"`) {
				name += " " + argument(args, "hlo_op")
			}
			is, ok := collective[name]
			if !ok {
				is = IsCollective(name)
				collective[name] = is
			}
			w.Collective = is
			s, ok := called[idOf(rec, w.Track, correlation(args))]
			if ok {
				w.in = s // also if the clocks of program and device disagree
			}
			if ok && s.Start <= w.Start {
				w.Launch = s
			} else if m, ok := sent[moment{Track: w.Track, Time: w.Start}]; ok && m.Time <= w.Start {
				w.Launch = Span{m.Track, recording.NoCall, m.Time, m.Time}
				w.in = Span{m.Track, calls.at(m.Track, m.Time), m.Time, m.Time}
			} else if id := external(args); id != "" && w.in.Track == recording.NoTrack {
				lost[idOf(rec, w.Track, id)] = append(lost[idOf(rec, w.Track, id)], w)
			}
		}
	}
	if len(lost) == 0 {
		return nil
	}
	return eachArgs(ctx, rec, stream, func(s Span, ref uint64) {
		if rec.Functions.At(int(rec.Func(s.Call))).Module == "cpu_op" {
			for _, w := range lost[idOf(rec, s.Track, external(rec.Args(ref)))] {
				w.in = s
			}
		}
	})
}

// launchID is a number by which work is linked to its launch, within a recording of several that
// were joined.
type launchID struct{ recording, number string }

func idOf(rec *recording.Recording, track int, number string) launchID {
	return launchID{rec.Processes[rec.Tracks[track].Process].Recording, number}
}

// external returns the number by which PyTorch's traces link work to the operator around its
// launch, "" for none.
func external(args string) string { return strings.TrimPrefix(argument(args, "External id"), "0") }

// argument returns an argument as text, "" for none.
func argument(args, key string) string { return jsonscan.Plain(jsonscan.Member([]byte(args), key)) }

// eachArgs visits the calls with arguments outside of streams.
func eachArgs(ctx context.Context, rec *recording.Recording, stream map[int]bool, visit func(s Span, args uint64)) error {
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
				if ref := l.Args(n); ref != 0 {
					visit(Span{i, l.Call(n), l.Start(n), l.End(n)}, ref)
				}
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
