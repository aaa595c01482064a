package sql

import (
	"context"
	"testing"

	"ashlar/ingest/model/recording"
)

// TestLeads checks that rows lead to the spans, times and functions that they were made of.
func TestLeads(t *testing.T) {
	x := newShop(5)
	rec := x.rec
	of := func(query string) ([]Lead, *Result) {
		t.Helper()
		r, err := Run(context.Background(), []Source{{"a", x.set}}, query, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		l := NewLeads(r, rec, x.set)
		var all []Lead
		for _, row := range r.Rows {
			all = append(all, l.Of(row))
		}
		return all, r
	}
	// Whatever is selected of a span leads back to a span with that start, end and function.
	for _, query := range []string{
		"SELECT span_id, start_ps, end_ps, function, thread_id FROM spans",
		"SELECT start_ps, end_ps, function, thread_id FROM spans",
		"SELECT start_ps, duration_ps, end_ps, function, call_id, thread_id FROM spans WHERE duration_ps > 0",
		"SELECT start_ps / 1e9 AS start_ms, duration_ps / 1e3 AS duration_ns, end_ps, function, thread_id FROM spans",
		"SELECT start_ps, function, end_ps, thread_id FROM spans WHERE depth = 1",
	} {
		leads, r := of(query)
		if len(leads) == 0 {
			t.Errorf("%s: no rows", query)
		}
		end, name, thread := -1, -1, -1
		for c, n := range r.Columns {
			switch n {
			case "end_ps":
				end = c
			case "function":
				name = c
			case "thread_id":
				thread = c
			}
		}
		for i, l := range leads {
			row := r.Rows[i]
			if l.Kind != SpanLead || l.To-rec.Start != row[end].Int || rec.FuncName(l.Call) != row[name].Text || int64(l.Track) != row[thread].Int {
				t.Fatalf("%s: row %v leads to %+v", query, row, l)
			}
			if lane := rec.Tracks[l.Track].Lane(l.Lane); lane.Start(l.Index) != l.From || lane.Call(l.Index) != l.Call {
				t.Fatalf("%s: %+v is not a span", query, l)
			}
		}
	}
	leads, _ := of("SELECT thread_id, start_ps, end_ps, state FROM states")
	for _, l := range leads {
		if l.Kind != SpanLead || l.Lane != recording.StateLane {
			t.Errorf("a state leads to %+v", l)
		}
	}
	for query, want := range map[string]LeadKind{
		"SELECT time_ps, thread_id FROM samples LIMIT 1":          TimeLead,
		"SELECT 17 AS from_ps, 5 AS gap_ps":                       TimeLead,
		"SELECT call_id FROM calls LIMIT 1":                       CallLead,
		"SELECT function, count(*) FROM spans GROUP BY 1 LIMIT 1": FunctionLead,
		"SELECT function_id FROM functions LIMIT 1":               FunctionLead,
		"SELECT count(*) FROM spans":                              NoLead,
		"SELECT -1 AS start_ps":                                   NoLead,
		"SELECT 1e30 AS start_s":                                  NoLead,
		"SELECT 'x' AS start_ps, NULL AS span_id, 99 AS call_id":  NoLead,
		"SELECT 999999 AS span_id":                                NoLead,
		"SELECT 'no such function' AS function":                   NoLead,
	} {
		if leads, _ := of(query); len(leads) != 1 || leads[0].Kind != want {
			t.Errorf("%s: %+v, want kind %d", query, leads, want)
		}
	}
	leads, _ = of("SELECT 17 AS from_ps, 5 AS gap_ps")
	if l := leads[0]; l.From-rec.Start != 17 || l.To-rec.Start != 22 || l.Track != recording.NoTrack {
		t.Errorf("a gap leads to %+v", l)
	}
}
