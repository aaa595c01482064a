package command

import (
	"context"
	"errors"

	"github.com/spf13/pflag"

	"ashlar/app/core/missing"
	"ashlar/app/core/view"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/calls"
)

// callsFlag is the value of --calls: a set of calls that is found once the recording is
// open.
type callsFlag struct{ query *calls.Query }

// add adds the flag to a command.
func (f *callsFlag) add(fs *pflag.FlagSet) { fs.Var(f, "calls", view.CallsDoc) }

func (f *callsFlag) Type() string { return "string" }

func (f *callsFlag) String() string {
	if f == nil || f.query == nil {
		return ""
	}
	return f.query.String()
}

func (f *callsFlag) Set(s string) (err error) {
	f.query, err = calls.Parse(s)
	return err
}

func (f *callsFlag) isSet() bool { return f.query != nil }

// meant returns the requested set of calls before it is looked up in the recording; nil
// if none was requested. It fails with a one-sentence error if the recording has no such
// calls.
func (f *callsFlag) meant(rec *recording.Recording) (*recording.CallSet, error) {
	if f.query == nil {
		return nil, nil
	}
	if rec.Counts.Spans+rec.Counts.States == 0 {
		return nil, misfit(rec, errors.New("--calls needs a recording with spans; "+missing.Reason(missing.Spans, rec)))
	}
	if err := f.query.Check(rec); err != nil {
		return nil, misfit(rec, err)
	}
	return &recording.CallSet{Text: f.query.String()}, nil
}

// in looks up the calls and limits a scope of a recording to them.
func (f *callsFlag) in(ctx context.Context, rec *recording.Recording, in recording.Scope) (recording.Scope, error) {
	set, err := f.meant(rec)
	if err != nil {
		return in, err
	}
	return calls.Bind(ctx, rec, in.Of(set))
}
