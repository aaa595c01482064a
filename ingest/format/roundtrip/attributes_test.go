package roundtrip

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"google.golang.org/protobuf/encoding/protowire"

	"ashlar/ingest/format/encode"
)

// symbolProfile returns a profile that uses all fields of profile.proto for binaries and
// functions: two mappings of one file, a mapping without locations, named and bare
// locations in one mapping, system names, first lines, a folded location, and numeric
// labels with and without a unit.
func symbolProfile() *profile.Profile {
	ms := []*profile.Mapping{
		{ID: 1, Start: 0x400000, Limit: 0x500000, Offset: 0x1000, File: "/bin/app", BuildID: "abc123", HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true},
		{ID: 2, Start: 0x600000, Limit: 0x700000, Offset: 0x200000, File: "/bin/app", BuildID: "abc123"},
		{ID: 3, Start: 0x7f0000, Limit: 0x7fffff, File: "/lib/x.so", HasFunctions: true},
	}
	fs := []*profile.Function{
		{ID: 1, Name: "main", SystemName: "main", Filename: "main.go", StartLine: 10},
		{ID: 2, Name: "work", SystemName: "_work_v2", Filename: "work.go", StartLine: 20},
		{ID: 3, Name: "inner", SystemName: "inner", Filename: "work.go", StartLine: 30},
		{ID: 4, Name: "shared", SystemName: "shared"},
		{ID: 5, Name: "main", SystemName: "main", Filename: "other.go", StartLine: 40},
	}
	ls := []*profile.Location{
		{ID: 1, Address: 0x400100, Mapping: ms[0], Line: []profile.Line{{Function: fs[0], Line: 12}}},
		{ID: 2, Address: 0x400200, Mapping: ms[0], Line: []profile.Line{{Function: fs[2], Line: 31, Column: 4}, {Function: fs[1], Line: 22}}},
		{ID: 3, Address: 0x7f0100, Mapping: ms[2], Line: []profile.Line{{Function: fs[3]}}, IsFolded: true},
		{ID: 4, Address: 0x7f0200, Mapping: ms[2]},
		{ID: 5, Address: 0x400300, Mapping: ms[0], Line: []profile.Line{{Function: fs[4], Line: 41}}},
	}
	return &profile.Profile{
		SampleType:        []*profile.ValueType{{Type: "zeta", Unit: "count"}, {Type: "alpha", Unit: "nanoseconds"}, {Type: "mid", Unit: "bytes"}},
		DefaultSampleType: "alpha",
		PeriodType:        &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 10_000_000,
		TimeNanos: 1_700_000_000_000_000_000, DurationNanos: 3_000_000_000,
		Comments: []string{"hello world", "bazinga"},
		Mapping:  ms, Function: fs, Location: ls,
		Sample: []*profile.Sample{
			{Location: []*profile.Location{ls[1], ls[0]}, Value: []int64{1, 10, 100}, NumLabel: map[string][]int64{"request": {2 << 20}, "alignment": {64}, "retries": {3}, "size": {48}}, NumUnit: map[string][]string{"request": {""}, "alignment": {""}, "retries": {""}, "size": {"kilobytes"}}},
			{Location: []*profile.Location{ls[2], ls[0]}, Value: []int64{2, 20, 200}},
			{Location: []*profile.Location{ls[3], ls[4]}, Value: []int64{4, 40, 400}, Label: map[string][]string{"user": {"ann"}}},
		},
	}
}

// mappingsText formats the sample types, mappings and comments of a profile.
func mappingsText(p *profile.Profile) string {
	var b strings.Builder
	for _, t := range p.SampleType {
		fmt.Fprintf(&b, "%s %s\n", t.Type, t.Unit)
	}
	for _, m := range p.Mapping {
		fmt.Fprintf(&b, "%x-%x %x %s %s %v %v %v %v\n", m.Start, m.Limit, m.Offset, m.File, m.BuildID, m.HasFunctions, m.HasFilenames, m.HasLineNumbers, m.HasInlineFrames)
	}
	return b.String() + fmt.Sprintf("%d %q\n", p.DurationNanos, p.Comments)
}

// TestSymbolsOfProfiles checks that a profile keeps all data about binaries and functions
// through pprof, SPAA and OTLP, and that other formats report their losses.
func TestSymbolsOfProfiles(t *testing.T) {
	in := symbolProfile()
	rec := load(t, "in.pb.gz", encoded(t, in))
	want := mappingsText(in) + strings.ReplaceAll(profileText(in), `[""]`, "[]")
	parsed := func(out []byte) *profile.Profile {
		p, err := profile.ParseData(out)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	out, rep := write(t, rec, "out.pb", encode.Options{})
	if got := mappingsText(parsed(out)) + profileText(parsed(out)); got != want || len(rep.Lost) > 0 {
		t.Errorf("by itself it is\n%s\nwant\n%s\nlost %v", got, want, rep.Lost)
	}
	viaSPAA, rep := write(t, rec, "out.spaa", encode.Options{})
	checkSPAA(t, viaSPAA)
	back := load(t, "out.spaa", viaSPAA)
	if len(back.Warnings) > 0 || len(rep.Lost) > 0 {
		t.Errorf("by SPAA: %v, lost %v", back.Warnings, rep.Lost)
	}
	out, _ = write(t, back, "out.pb", encode.Options{})
	if got := mappingsText(parsed(out)) + profileText(parsed(out)); got != want {
		t.Errorf("by SPAA it is\n%s\nwant\n%s", got, want)
	}
	for name, lost := range map[string][]string{
		"out.folded": {"binary mappings", "function start lines", "marks of folded functions", "function system names"},
		"out.otlp":   nil,
	} {
		_, rep := write(t, rec, name, encode.Options{})
		for _, what := range lost {
			if !slices.ContainsFunc(rep.Lost, func(l encode.Loss) bool { return l.What == what && l.Count > 0 }) {
				t.Errorf("%s does not say that it loses %s: %v", name, what, rep.Lost)
			}
		}
		if lost == nil && len(rep.Lost) > 0 {
			t.Errorf("%s loses %v", name, rep.Lost)
		}
	}
}

// TestDroppedFramesAreNamed checks that frames hidden by the profile's drop_frames are
// reported as lost.
func TestDroppedFramesAreNamed(t *testing.T) {
	p := madeProfile()
	p.DropFrames = "deep|inl"
	rec := load(t, "in.pb.gz", encoded(t, p))
	for _, name := range targetFiles {
		if name == "out.spall" || name == "out.json" {
			continue // these hold no stacks
		}
		_, rep := write(t, rec, name, encode.Options{})
		if !slices.ContainsFunc(rep.Lost, func(l encode.Loss) bool { return l.What == "stack frames" && l.Count > 0 }) {
			t.Errorf("%s does not say that frames were left out: %v", name, rep.Lost)
		}
	}
}

// otlpAttributes lists attributes of OpenTelemetry's profiles by owner, with the values to
// try.
var otlpAttributes = map[string]map[string][]string{
	"location": {
		"profile.frame.type":       {"beam", "cpython", "dotnet", "go", "jvm", "kernel", "native", "perl", "php", "ruby", "rust", "v8js", "lua"},
		"pprof.location.is_folded": {"true"},
	},
	"mapping": {
		"pprof.mapping.has_filenames": {"true"}, "pprof.mapping.has_functions": {"true"},
		"pprof.mapping.has_inline_frames": {"true"}, "pprof.mapping.has_line_numbers": {"true"},
		"process.executable.build_id.gnu": {"600dcafe4a110000"}, "process.executable.build_id.go": {"foh3mEXu7BLZjsN9pOwG/kATcXlYVCDEFouRMQed_"},
		"process.executable.build_id.htlhash": {"600dcafe4a110000f2bf38c493f5fb92"},
	},
	"profile": {"pprof.profile.comment": {`hello world`}},
}

// TestOTLPAttributes checks that each of these attributes is kept through OTLP, and through
// SPAA and OTLP.
func TestOTLPAttributes(t *testing.T) {
	for of, keys := range otlpAttributes {
		for key, values := range keys {
			for _, value := range values {
				rec := load(t, "in.otlp", otlpWith(t, of, key, value))
				if len(rec.Warnings) > 0 {
					t.Errorf("%s %s: %v", key, value, rec.Warnings)
				}
				out, rep := write(t, rec, "out.otlp", encode.Options{})
				viaSPAA, lost := write(t, rec, "out.spaa", encode.Options{})
				again, _ := write(t, load(t, "out.spaa", viaSPAA), "out.otlp", encode.Options{})
				if len(rep.Lost)+len(lost.Lost) > 0 {
					t.Errorf("%s %s: lost %v, by SPAA %v", key, value, rep.Lost, lost.Lost)
				}
				for by, b := range map[string][]byte{"OTLP": out, "SPAA": again} {
					if got := otlpValues(t, b)[key]; !slices.Equal(got, []string{value}) {
						t.Errorf("%s %s is %q by %s", key, value, got, by)
					}
				}
			}
		}
	}
}

// otlpWith returns an OTLP profile of one sample as JSON, with an attribute on the part of it
// that the argument of names.
func otlpWith(t *testing.T, of, key, value string) []byte {
	t.Helper()
	var v any = map[string]any{"stringValue": value}
	switch {
	case value == "true":
		v = map[string]any{"boolValue": true}
	case of == "profile":
		v = map[string]any{"arrayValue": map[string]any{"values": []any{v}}}
	}
	has := func(thing string) []int {
		if thing == of {
			return []int{1}
		}
		return nil
	}
	type m = map[string]any
	b, err := json.Marshal(m{
		"resourceProfiles": []any{m{"scopeProfiles": []any{m{"profiles": []any{m{
			"sampleType": m{"typeStrindex": 1, "unitStrindex": 2}, "timeUnixNano": "1700000000000000000", "attributeIndices": has("profile"),
			"samples": []any{m{"stackIndex": 1, "values": []string{"7"}}},
		}}}}}},
		"dictionary": m{
			"mappingTable":   []any{m{}, m{"memoryStart": "4096", "memoryLimit": "8192", "filenameStrindex": 4, "attributeIndices": has("mapping")}},
			"locationTable":  []any{m{}, m{"mappingIndex": 1, "address": "4352", "lines": []any{m{"functionIndex": 1, "line": 5}}, "attributeIndices": has("location")}},
			"functionTable":  []any{m{}, m{"nameStrindex": 3}},
			"stackTable":     []any{m{}, m{"locationIndices": []int{1}}},
			"attributeTable": []any{m{}, m{"keyStrindex": 5, "value": v}},
			"stringTable":    []string{"", "cpu", "nanoseconds", "main", "/bin/app", key},
			"linkTable":      []any{m{}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// otlpValues reads the attribute table of a file, by key, without package otlp.
func otlpValues(t *testing.T, b []byte) map[string][]string {
	t.Helper()
	var keys, texts []string
	var of []uint64
	each := func(b []byte, visit func(protowire.Number, uint64, []byte)) {
		for len(b) > 0 {
			num, typ, n := protowire.ConsumeTag(b)
			size := protowire.ConsumeFieldValue(num, typ, b[max(n, 0):])
			if n < 0 || size < 0 {
				t.Fatal("no protobuf")
			}
			field := b[n : n+size]
			if b = b[n+size:]; typ == protowire.BytesType {
				body, _ := protowire.ConsumeBytes(field)
				visit(num, 0, body)
			} else if typ == protowire.VarintType {
				v, _ := protowire.ConsumeVarint(field)
				visit(num, v, nil)
			}
		}
	}
	var value func(b []byte) string
	value = func(b []byte) (text string) {
		each(b, func(num protowire.Number, n uint64, body []byte) {
			switch num {
			case 1:
				text = string(body)
			case 2:
				text = fmt.Sprint(n == 1)
			case 5:
				each(body, func(_ protowire.Number, _ uint64, one []byte) { text += value(one) })
			}
		})
		return text
	}
	each(b, func(num protowire.Number, _ uint64, dict []byte) {
		if num != 2 {
			return
		}
		each(dict, func(table protowire.Number, _ uint64, row []byte) {
			switch table {
			case 5:
				keys = append(keys, string(row))
			case 6:
				var key uint64
				text := ""
				each(row, func(num protowire.Number, n uint64, body []byte) {
					switch num {
					case 1:
						key = n
					case 2:
						text = value(body)
					}
				})
				of, texts = append(of, key), append(texts, text)
			}
		})
	})
	out := map[string][]string{}
	for i, k := range of {
		out[keys[k]] = append(out[keys[k]], texts[i])
	}
	if !bytes.Contains(b, []byte("main")) {
		t.Error("the function is gone")
	}
	return out
}
