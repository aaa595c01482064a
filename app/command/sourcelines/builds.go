package sourcelines

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ashlar/app/core/assembly"
	"ashlar/app/core/exactnum"
	"ashlar/app/core/subcommand"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/render/units"
)

// Builds compares the code of a function in two builds.
type Builds struct {
	Function string `json:"function"`
	// BinaryA and BinaryB are the paths of the files with the code; DoubtA and DoubtB say
	// why one may not be the recorded binary.
	BinaryA string `json:"binary_a"`
	BinaryB string `json:"binary_b"`
	DoubtA  string `json:"doubt_a,omitempty"`
	DoubtB  string `json:"doubt_b,omitempty"`
	// Doubt says why the alignment is uncertain; absent if it is not.
	Doubt string `json:"doubt,omitempty"`
	Skid  string `json:"skid,omitempty"` // as in assembly
	// Matched counts the instructions that both builds have, Added those that only B has,
	// Removed those that only A has.
	Matched int `json:"matched"`
	Added   int `json:"added"`
	Removed int `json:"removed"`
	// SelfA and SelfB are the self costs of the function.
	SelfA json.Number `json:"self_a"`
	SelfB json.Number `json:"self_b"`
	// Loop is a sentence about the hot loop of B; absent if there is none, it is the same
	// code at the same cost, or the alignment is doubtful.
	Loop string `json:"loop,omitempty"`
}

// BuildsRow is an instruction of both builds, or of one: the fields of the other build are
// then absent.
type BuildsRow struct {
	AddressA string      `json:"address_a,omitempty"`
	AddressB string      `json:"address_b,omitempty"`
	TextA    string      `json:"text_a,omitempty"`
	TextB    string      `json:"text_b,omitempty"`
	SelfA    json.Number `json:"self_a"`
	SelfB    json.Number `json:"self_b"`
	Change   json.Number `json:"change"` // SelfB less SelfA

	row   int
	delta int64
}

// builds prints the code of a function in two builds, aligned.
func (o *options) builds(p *subcommand.Program, rec *recording.Recording, what string) error {
	if o.exe != "" {
		return subcommand.Misuse("--exe is for one recording; put each binary beside its recording")
	}
	a, err := o.code(p, rec, what, "")
	if err != nil {
		return err
	}
	other, err := p.Read(o.with)
	if err != nil {
		return err
	}
	b, err := o.code(p, other, what, "")
	if err != nil {
		return err
	}
	if a.m.Unit != b.m.Unit {
		return subcommand.Misuse("%s has %s in %s, %s has %s in %s; choose others with --event and --metric", rec.Source.Path, a.m.Name, a.m.Unit, other.Source.Path, b.m.Name, b.m.Unit)
	}
	al := assembly.Align(a.listing, b.listing)
	event := &rec.Events[a.q.Event]
	x := &Builds{Function: rec.Functions.Ref(int(a.function)).Name, BinaryA: a.listing.Binary, BinaryB: b.listing.Binary, DoubtA: a.listing.Doubt, DoubtB: b.listing.Doubt,
		Doubt: al.Doubt, Skid: cmp.Or(assembly.Skid(rec, event.Name), assembly.Skid(other, other.Events[b.q.Event].Name)), Matched: al.Matched,
		SelfA: exactnum.Value(a.listing.Self, a.m), SelfB: exactnum.Value(b.listing.Self, b.m), Loop: al.Sentence(false)}
	var rows []BuildsRow
	for i, r := range al.Rows {
		y := BuildsRow{row: i}
		var selfA, selfB int64
		if r.A >= 0 {
			in := &a.listing.Insts[r.A]
			y.AddressA, y.TextA, selfA = hex(in.Addr), in.Text, in.Self
		} else {
			x.Added++
		}
		if r.B >= 0 {
			in := &b.listing.Insts[r.B]
			y.AddressB, y.TextB, selfB = hex(in.Addr), in.Text, in.Self
		} else {
			x.Removed++
		}
		y.delta = selfB - selfA
		y.SelfA, y.SelfB, y.Change = exactnum.Value(selfA, a.m), exactnum.Value(selfB, b.m), exactnum.Value(y.delta, b.m)
		rows = append(rows, y)
	}
	// Changed code comes before code that only costs more or less.
	weight := func(y *BuildsRow) int64 { return max(y.delta, -y.delta) }
	alone := func(y *BuildsRow) int {
		if y.AddressA == "" || y.AddressB == "" {
			return 0
		}
		return 1
	}
	order.By(rows, func(a, b BuildsRow) int {
		return cmp.Or(cmp.Compare(weight(&b), weight(&a)), cmp.Compare(alone(&a), alone(&b)))
	})
	if !o.json && o.rows > 0 {
		rows = rows[:min(len(rows), o.rows)]
	}
	s := &Source{File: rec.Source.Path, Event: event.Name, Metric: a.m.Name, Unit: a.m.Unit, Total: exactnum.Value(a.w.Sum, a.m), Self: x.SelfA, Lines: []Line{}, Builds: x, Rows: rows}
	return p.Answer(o.json, s, "rows", len(rows), func(n int) string { return x.text(al, a.m, a.rec, b.rec, rows[:n]) })
}

// text formats rows in the order of the code.
func (x *Builds) text(al *assembly.Alignment, m *recording.Metric, a, b *recording.Recording, shown []BuildsRow) string {
	var s strings.Builder
	if x.Loop != "" {
		fmt.Fprintf(&s, "%s\n", x.Loop)
	}
	fmt.Fprintf(&s, "%s: %s, A %s, B %s\n", safetext.Short(x.Function), safetext.Short(m.Name), safetext.Short(a.Source.Path), safetext.Short(b.Source.Path))
	for _, side := range []struct{ name, binary, doubt string }{{"A", x.BinaryA, x.DoubtA}, {"B", x.BinaryB, x.DoubtB}} {
		fmt.Fprintf(&s, "%s: %s, %s\n", side.name, safetext.Text(side.binary), cmp.Or(side.doubt, "build id verified"))
	}
	for _, said := range []string{x.Doubt, x.Skid} {
		if said != "" {
			fmt.Fprintf(&s, "%s\n", said)
		}
	}
	fmt.Fprintf(&s, "%s in both, %d only in B (+), %d only in A (-); self %s in A, %s in B\n", units.Plural(int64(x.Matched), "instruction"), x.Added, x.Removed, units.Value(al.A.Self, m), units.Value(al.B.Self, m))
	var rows []int
	for i := range shown {
		rows = append(rows, shown[i].row)
	}
	slices.Sort(rows)
	fmt.Fprintf(&s, "\n%12s %12s %12s %8s %8s\n", "self A", "self B", "change", "A", "B")
	for i, k := range rows {
		if i > 0 && k != rows[i-1]+1 || i == 0 && k > 0 {
			fmt.Fprintf(&s, "%58s\n", "…")
		}
		r := al.Rows[k]
		mark, text := " ", ""
		var offsets [2]string
		var self [2]int64
		if r.A >= 0 {
			in := &al.A.Insts[r.A]
			mark, text, offsets[0], self[0] = "-", in.Text, fmt.Sprintf("+%#x", al.A.Offset(r.A)), in.Self
		}
		if r.B >= 0 {
			in := &al.B.Insts[r.B]
			if mark == "-" {
				mark = " "
			} else {
				mark = "+"
			}
			text, offsets[1], self[1] = in.Text, fmt.Sprintf("+%#x", al.B.Offset(r.B)), in.Self
		}
		value := func(v int64) string {
			if v == 0 {
				return ""
			}
			return units.Value(v, m)
		}
		change := value(self[1] - self[0])
		if self[1] > self[0] {
			change = "+" + change
		}
		fmt.Fprintf(&s, "%12s %12s %12s %8s %8s %s %s\n", value(self[0]), value(self[1]), change, offsets[0], offsets[1], mark, safetext.Short(text))
	}
	return s.String()
}
