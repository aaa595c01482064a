package palette

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"ashlar/app/core/session"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

func TestRank(t *testing.T) {
	for _, x := range []struct {
		title, text string
		rank        int
		ok          bool
	}{
		{"Layout", " LAYOUT ", 0, true}, {"LayoutView::paint", "layout", 1, true}, {"net/http.(*conn).serve", "serve conn", 2, true},
		{"Table of functions", "func", 2, true}, {"reshape shape", "shape", 2, true}, {"unlock lock2", "lock", 2, true}, {"preheat", "heat", 3, true}, {"aheat_heat", "heat", 2, true},
		{"Layout", "lay outs", 0, false}, {"", "a", 0, false}, {"Zoom", "", 1, true},
	} {
		if rank, ok := Rank(x.title, x.text); ok != x.ok || ok && rank != x.rank {
			t.Errorf("%q names %q with %d, %v; want %d, %v", x.text, x.title, rank, ok, x.rank, x.ok)
		}
	}
}

// many returns a recording of n functions with random costs.
func many(n int) (*recording.Recording, *session.Answer) {
	r := rand.New(rand.NewPCG(1, 2))
	b := recording.NewBuilder()
	var rows []analyze.Row
	for i := range n {
		name := fmt.Sprintf("pkg%d.(*Type%d).%s%d", i%97, i%31, []string{"Read", "reader", "spread", "write"}[i%4], i%1000)
		f := b.Function(recording.Function{Name: name})
		rows = append(rows, analyze.Row{Func: f, Name: name, Total: r.Int64N(50)})
	}
	rec := b.Finish()
	return rec, &session.Answer{Rec: rec, Rows: rows}
}

// TestFindIsTheBestOfAll checks that functions left out match worse than the found ones,
// or equally well at a lower cost.
func TestFindIsTheBestOfAll(t *testing.T) {
	rec, a := many(5000)
	for _, text := range []string{"read7", "Read", "type3 spread", "pkg1.", "nothing like it"} {
		var f Finder
		found := f.Find(rec, a, text, nil)
		in := map[recording.FuncID]bool{}
		worst := [2]int64{-1, 0}
		for i, x := range found.Functions {
			k := [2]int64{rankOf(rec, x.ID, text), -a.Rows[x.ID].Total}
			if k[0] < 0 || -k[1] != x.Total || i > 0 && (k[0] < worst[0] || k[0] == worst[0] && k[1] < worst[1]) {
				t.Fatalf("%q: %q stands behind what is named worse (%v, %v)", text, rec.Functions.At(int(x.ID)).Name, k, worst)
			}
			in[x.ID], worst = true, k
		}
		left := 0
		for i := range rec.Functions.Len() {
			k := rankOf(rec, recording.FuncID(i), text)
			if k < 0 || in[recording.FuncID(i)] {
				continue
			}
			if left++; k < worst[0] || k == worst[0] && -a.Rows[i].Total < worst[1] {
				t.Fatalf("%q: %q is left out", text, rec.Functions.At(i).Name)
			}
		}
		if left > 0 && len(found.Functions) < most {
			t.Errorf("%q: %d are left out though only %d are found", text, left, len(found.Functions))
		}
	}
}

// rankOf returns the better rank of a function's whole name and its last part, -1 if
// neither matches.
func rankOf(rec *recording.Recording, f recording.FuncID, text string) int64 {
	name := rec.Functions.At(int(f)).Name
	rank, ok := Rank(name, text)
	if !ok {
		return -1
	}
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' {
			if r, ok := Rank(name[i+1:], text); ok && r < rank {
				rank = r
			}
			break
		}
	}
	return int64(rank)
}

func BenchmarkFind(b *testing.B) {
	rec, a := many(200_000)
	for _, text := range []string{"r", "spread9", "type3 write"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				var f Finder
				f.Find(rec, a, text, nil)
			}
		})
	}
}
