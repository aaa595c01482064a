package chrome

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// flowsOf writes each flow as "name: thread@time …", sorted.
func flowsOf(rec *recording.Recording) []string {
	out := make([]string, 0, len(rec.Flows))
	for _, f := range rec.Flows {
		s := f.Name + ":"
		for _, p := range f.Steps {
			s += fmt.Sprintf(" %d@%s", rec.Tracks[p.Track].TID, rec.Clock.Text(p.Time))
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

// TestFlowIDs checks that only equal numbers match, in decimal or as hexadecimal text, as
// in Perfetto.
func TestFlowIDs(t *testing.T) {
	for _, c := range []struct {
		start, end string
		same       bool
	}{
		{`26`, `"0x1A"`, true}, {`"0x1a"`, `"0X01A"`, true}, {`26`, `"26"`, true}, {`"0xffffffffffffffff"`, `18446744073709551615`, true},
		{`26`, `"0x26"`, false}, {`26`, `"1a"`, false}, {`"0x"`, `0`, false}, {`"0xg"`, `16`, false}, {`"x1a"`, `26`, false},
	} {
		rec := readText(t, `[{"ph":"s","name":"q","id":`+c.start+`,"ts":1,"pid":1,"tid":1},{"ph":"f","bp":"e","name":"q","id":`+c.end+`,"ts":2,"pid":1,"tid":2}]`)
		if got := len(rec.Flows) == 1; got != c.same {
			t.Errorf("from %s to %s: %d flows", c.start, c.end, len(rec.Flows))
		}
		rec = readText(t, `[{"ph":"X","name":"q","bind_id":`+c.start+`,"flow_out":true,"ts":1,"dur":1,"pid":1,"tid":1},{"ph":"X","name":"r","bind_id":`+c.end+`,"flow_in":true,"ts":2,"dur":1,"pid":1,"tid":2}]`)
		if got := len(rec.Flows) == 1; got != c.same {
			t.Errorf("from bind_id %s to %s: %d flows", c.start, c.end, len(rec.Flows))
		}
	}
}

// TestFlowsReused reuses ids for flows that do not overlap in time and shuffles the events.
// Every flow must be reassembled.
func TestFlowsReused(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var events, want []string
		ids := []string{`"id":1`, `"id":"0xA"`, `"id":2`, `"id2":{"local":"0x1"}`, `"id2":{"global":"0x9"}`, `"id":1,"scope":"x"`}
		for _, id := range ids {
			for _, name := range []string{"q", "r"} {
				at := rng.IntN(5)
				for range 10 {
					s := name + ":"
					phases := "s" + strings.Repeat("t", rng.IntN(4)) + "f"
					for _, ph := range phases {
						tid := 1 + rng.IntN(4)
						events = append(events, fmt.Sprintf(`{"ph":"%c","bp":"e","name":%q,%s,"ts":%d,"pid":1,"tid":%d}`, ph, name, id, at, tid))
						s += fmt.Sprintf(" %d@%d", tid, at)
						at += rng.IntN(3) // two steps may have the same time
					}
					want = append(want, s)
					at++
				}
			}
		}
		rng.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
		rec := readText(t, "["+strings.Join(events, ",\n")+"]")
		balanced(t, rec)
		got := flowsOf(rec)
		slices.Sort(want)
		if len(got) != len(want) || len(rec.Warnings) > 0 {
			t.Fatalf("seed %d: %d flows of %d, warnings %v", seed, len(got), len(want), rec.Warnings)
		}
		// The order of steps at the same time is undefined, so compare the steps sorted.
		for i := range got {
			got[i], want[i] = sortedSteps(got[i]), sortedSteps(want[i])
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("seed %d:\ngot  %v\nwant %v", seed, got, want)
		}
	}
}

func sortedSteps(s string) string {
	words := strings.Fields(s)
	slices.Sort(words[1:])
	return strings.Join(words, " ")
}

// naiveFlow is an event of a flow, read with encoding/json.
type naiveFlow struct {
	ph string
	ts *big.Rat
}

// naiveFlows counts the flows of a file: it groups s, t and f events by category, name,
// scope and id, sorts each group by time, and starts a new flow at each s and after each f.
func naiveFlows(content []byte) (flows, lone int, ok bool) {
	var events []map[string]json.RawMessage
	var file struct{ TraceEvents []map[string]json.RawMessage }
	if json.Unmarshal(content, &events) != nil {
		if json.Unmarshal(content, &file) != nil {
			return 0, 0, false
		}
		events = file.TraceEvents
	}
	byKey := map[string][]naiveFlow{}
	for _, e := range events {
		ph := strings.Trim(string(e["ph"]), `"`)
		if ph != "s" && ph != "t" && ph != "f" {
			continue
		}
		id := strings.Trim(string(e["id"]), `"`)
		if id == "" && strings.Contains(string(e["id2"]), "local") {
			id = string(e["pid"])
		}
		ts, fine := new(big.Rat).SetString(strings.Trim(string(e["ts"]), `"`))
		if !fine {
			return 0, 0, false
		}
		key := fmt.Sprintf("%s|%s|%s|%s|%s", e["cat"], e["name"], e["scope"], id, e["id2"])
		byKey[key] = append(byKey[key], naiveFlow{ph: ph, ts: ts})
	}
	for _, list := range byKey {
		slices.SortStableFunc(list, func(a, b naiveFlow) int { return a.ts.Cmp(b.ts) })
		n := 0
		cut := func() {
			if n > 1 {
				flows++
			} else {
				lone += n
			}
			n = 0
		}
		for _, e := range list {
			if e.ph == "s" {
				cut()
			}
			n++
			if e.ph == "f" {
				cut()
			}
		}
		cut()
	}
	return flows, lone, true
}

func TestFlowsOfSamples(t *testing.T) {
	compared := 0
	for _, file := range sampleFiles(t) {
		in, err := source.Open(file)
		if err != nil {
			continue // a zip
		}
		t.Cleanup(func() { in.Close() })
		content, err := in.All(1 << 30)
		if err != nil {
			t.Fatal(err)
		}
		flows, lone, ok := naiveFlows(content)
		if !ok || strings.Contains(string(content), `"bind_id"`) {
			continue
		}
		if flows+lone == 0 {
			continue
		}
		rec := read(t, source.FromBytes(file, content))
		var warned int64
		for _, w := range rec.Warnings {
			if w.Code == "lone-flow" {
				warned = w.Count
			}
		}
		if len(rec.Flows) != flows || warned != int64(lone) {
			t.Errorf("%s: %d flows and %d lone, naively %d and %d", filepath.Base(file), len(rec.Flows), warned, flows, lone)
		}
		compared += flows
	}
	if compared == 0 {
		t.Error("no sample has a flow")
	}
}
