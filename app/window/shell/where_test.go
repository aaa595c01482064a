package shell

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"ashlar/app/core/view"
	"ashlar/app/window/panel/details"
	"ashlar/ingest/query/analyze"
	"ashlar/render/widget"
)

// labelled returns a profile of three tenants; zoo has 7 of 100 samples.
func labelled(t *testing.T) string {
	t.Helper()
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "count"}}, PeriodType: &profile.ValueType{}}
	for i, name := range []string{"main", "parse", "query"} {
		f := &profile.Function{ID: uint64(i + 1), Name: name}
		p.Function = append(p.Function, f)
		p.Location = append(p.Location, &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f}}})
	}
	for i, s := range []struct {
		tenant string
		value  int64
	}{{"acme", 60}, {"zoo", 5}, {"apex", 33}, {"zoo", 2}} {
		p.Sample = append(p.Sample, &profile.Sample{Value: []int64{s.value}, Label: map[string][]string{"tenant": {s.tenant}, "request": {string(rune('1' + i))}},
			Location: []*profile.Location{p.Location[1+i%2], p.Location[0]}})
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// listed waits for the chooser's lines and returns their titles.
func (b *bench) listed() (titles []string) {
	b.t.Helper()
	for range 10_000 {
		b.frame()
		if b.Chooser == nil {
			b.t.Fatal("nothing is to be chosen")
		}
		if len(b.Chooser.Lines) > 0 {
			for _, l := range b.Chooser.Lines {
				titles = append(titles, l.Title)
			}
			return titles
		}
		time.Sleep(2 * time.Millisecond)
	}
	b.t.Fatal("the list stays empty")
	return nil
}

// total waits for the answer to the current question and returns its total.
func (b *bench) total() string {
	b.t.Helper()
	b.frame()
	if err := b.Pane.Doc.Finish(b.Pane.Question()); err != nil {
		b.t.Fatal(err)
	}
	b.frame()
	return b.State().Total
}

func TestOnlyWhatHasALabel(t *testing.T) {
	b := newBench(t, labelled(t))
	p := b.Pane
	b.now = b.now.Add(time.Second) // lets the view become a step of history
	b.frame()
	if got := b.total(); got != "100" {
		t.Fatalf("the whole is %s", got)
	}
	b.Pane.Details.ChooseLabel(&b.Host, "")
	if got := b.listed(); len(got) != 7 || !slices.Contains(got, "tenant = acme") || got[slices.Index(got, "tenant = acme")+2] != "tenant = zoo" {
		t.Errorf("the labels are %q", got)
	}
	b.Chooser.SetText("ten zoo")
	b.frame()
	if got := b.listed(); len(got) != 1 || !strings.Contains(b.Chooser.Lines[0].Detail, "7") || b.Chooser.Lines[0].Mark != widget.MarkOff {
		t.Errorf("like zoo there are %q, %+v", got, b.Chooser.Lines[0])
	}
	b.Chooser.Take(-1)
	if got := b.total(); got != "7" || !slices.Equal(b.Pane.Transforms, []analyze.Transform{analyze.Where("tenant=zoo")}) || b.Chooser != nil {
		t.Errorf("zoo has %s by %q", got, b.Pane.Transforms)
	}
	if line, rest := b.AsCommand(); !strings.Contains(line, "--where tenant=zoo") || rest != "" {
		t.Errorf("as a command it is %s (but %s)", line, rest)
	}
	v, err := view.Parse(b.Address().String())
	if err != nil || !slices.Equal(v.Transforms, []analyze.Transform{analyze.Where("tenant=zoo")}) {
		t.Errorf("the address %s says %v, %v", b.Address(), v, err)
	}
	// The typed text may be a condition.
	b.Pane.Details.ChooseLabel(&b.Host, "")
	b.Chooser.SetText("tenant~^ap")
	if got := b.listed(); got[0] != "Only tenant~^ap" {
		t.Errorf("for a condition there is %q", got)
	}
	b.Chooser.Take(0)
	if got := b.total(); got != "40" { // zoo or apex: conditions on the same key are alternatives
		t.Errorf("zoo and apex have %s", got)
	}
	b.now = b.now.Add(time.Second)
	b.frame()
	b.now = b.now.Add(time.Second)
	b.frame()
	b.Undo()
	if got := b.total(); got != "7" && got != "100" {
		t.Errorf("after one step back there is %s", got)
	}
	for range 3 {
		b.Undo()
	}
	if got := b.total(); got != "100" || p.Transforms != nil {
		t.Errorf("undone, there is %s by %v", got, p.Transforms)
	}
	// The details of a function list its labels.
	p.PickFunction(p.Doc.Answer(), 2)
	for range 10_000 {
		b.frame()
		if p.Doc.NodeContexts(p.Doc.Answer(), int(p.Pick.Node)) != nil {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	_, _, ds := p.Details.NodeDetails()
	i := slices.IndexFunc(ds, func(d details.Detail) bool { return d.Label == "tenant" })
	if i < 0 {
		t.Fatalf("the details have no tenant: %+v", ds)
	}
	b.Pane.Details.ChooseLabel(&b.Host, ds[i].Label)
	if got := b.listed(); len(got) != 1 || got[0] != "tenant = zoo" {
		t.Errorf("the tenants of %s are %q", p.Rec.Functions.At(2).Name, got)
	}
}

// settleAs applies a transform as a command line or an address would, and waits.
func (b *bench) settleAs(t analyze.Transform) error {
	b.GoTo(&view.State{Stacks: view.Stacks{Transforms: []analyze.Transform{t}}})
	return b.Finish()
}

// TestLabelsOfTheCommandLine checks that a label given on the command line limits the
// stacks, and that an unknown one is an error.
func TestLabelsOfTheCommandLine(t *testing.T) {
	b := newBench(t, labelled(t))
	if err := b.settleAs(analyze.Where("tenant=zoo")); err != nil || b.total() != "7" {
		t.Errorf("zoo has %s, %v", b.total(), err)
	}
	if err := b.settleAs(analyze.Where("tenant=me")); err == nil || !strings.Contains(err.Error(), `the recording has no tenant "me"; values: acme, apex, zoo`) {
		t.Errorf("of a tenant that is not there it says %v", err)
	}
	b = newBench(t, someTrace)
	if b.Pane.Details.ChooseLabel(&b.Host, ""); b.Chooser != nil || !strings.Contains(b.State().Note, "no labels") {
		t.Errorf("a trace without labels says %q", b.State().Note)
	}
}
