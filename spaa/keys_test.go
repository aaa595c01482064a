package spaa

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// TestExpectedKeys parses lines with one parser, which expects the keys of the previous
// line, and each line with a fresh parser, which expects none. The results must be the
// same.
func TestExpectedKeys(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	fields := []string{
		`"type":"sample"`, `"timestamp":1.25`, `"pid":7`, `"tid":8`, `"cpu":1`, `"event":"cycles"`, `"period":100`, `"stack_id":"0x1f"`,
		`"stack_id":17`, `"type":"stack"`, `"id":"0x1f"`, `"frames":[1,2]`, `"weights":[{"metric":"samples","value":1}]`,
		`"t\u0079pe":"sample"`, `"pid" :7`, `"tid": 8`, ` "cpu":1`, `"pid":"seven"`, `"event":null`, `"unknown":{"a":[1]}`,
		`"a key that is longer than sixteen bytes":1`, `"related_stacks":["0x2"]`, `"timestam":1`, `"timestampp":1`, `"context":{"pid":1}`,
	}
	line := func(chosen []int) string {
		parts := make([]string, len(chosen))
		for i, k := range chosen {
			parts[i] = fields[k]
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	read := func(p *Parser, text string) []any {
		rec, err := p.Parse(text)
		if err != nil {
			return []any{err.Error()}
		}
		return []any{rec, p.Missing(), p.Duplicates, append([]Problem(nil), p.Problems...)}
	}
	chosen := []int{0, 1, 2, 3, 4, 5, 6, 7}
	kept := Parser{own: true, Extras: true}
	for range 20_000 {
		switch rng.IntN(4) {
		case 0: // the same keys as before
		case 1:
			chosen[rng.IntN(len(chosen))] = rng.IntN(len(fields))
		case 2:
			i, k := rng.IntN(len(chosen)), rng.IntN(len(chosen))
			chosen[i], chosen[k] = chosen[k], chosen[i]
		case 3:
			chosen = chosen[:0]
			for range 1 + rng.IntN(20) {
				chosen = append(chosen, rng.IntN(len(fields)))
			}
		}
		text := line(chosen)
		if rng.IntN(10) == 0 {
			text = text[:rng.IntN(len(text))] // an incomplete line
		}
		if got, want := read(&kept, text), read(&Parser{own: true, Extras: true}, text); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\nis %+v\nnot %+v", text, got, want)
		}
	}
}
