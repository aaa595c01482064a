package roundtrip

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"ashlar/ingest"
	"ashlar/ingest/format/encode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/testdata/samples"
)

// pairsFor is how long TestThereAndBack runs.
const pairsFor = 2 * time.Second

// TestThereAndBack converts random recordings to random formats and reads the files back.
// Every total must be kept, or the report must name a loss. ASHLAR_SEED repeats a run.
func TestThereAndBack(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("ASHLAR_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	files := samples.Small(20<<20, append(samples.Below(t, "../../../testdata/recorded"), samples.Files(t)...))
	rng := rand.New(rand.NewPCG(seed, 0))
	tried := 0
	for end := time.Now().Add(pairsFor); time.Now().Before(end); {
		path, name := files[rng.IntN(len(files))], targetFiles[rng.IntN(len(targetFiles))]
		rec, _, err := ingest.ReadAll(context.Background(), path, ingest.Options{})
		if err != nil {
			continue // not a recording
		}
		tried++
		thereAndBack(t, filepath.Base(path), rec, name)
	}
	if tried == 0 {
		t.Error("nothing was tried")
	}
	t.Logf("%d pairs of %d files with ASHLAR_SEED=%d", tried, len(files), seed)
}

func thereAndBack(t *testing.T, path string, rec *recording.Recording, name string) {
	var out bytes.Buffer
	rep, err := target(t, name).Write(context.Background(), &out, name, rec, encode.Options{})
	if errors.Is(err, encode.ErrNothing) {
		return
	}
	if err != nil {
		t.Errorf("%s to %s: %v", path, name, err)
		return
	}
	if out.Len() == 0 && weightless(rec) {
		return // the format consists of lines, and this recording gives none
	}
	l := ingest.OpenInput(context.Background(), source.FromBytes(name, out.Bytes()), ingest.Options{})
	defer l.Close()
	if err := l.Wait(); err != nil {
		t.Errorf("%s to %s: it cannot be read: %v", path, name, err)
		return
	}
	back := slices.Concat(amounts(l.Snapshot())...)
	is := func(a *big.Rat) bool {
		return a.Sign() == 0 || slices.ContainsFunc(back, func(b *big.Rat) bool { return a.Cmp(b) == 0 })
	}
	for _, forms := range amounts(rec) {
		if !slices.ContainsFunc(forms, is) && len(rep.Lost) == 0 {
			t.Errorf("%s to %s: the total %s is none of %v, and no loss is named", path, name, forms[0].FloatString(6), back)
		}
	}
}

// weightless reports whether all totals of a recording are 0.
func weightless(rec *recording.Recording) bool {
	for _, forms := range amounts(rec) {
		if forms[0].Sign() != 0 {
			return false
		}
	}
	return true
}

// amounts returns the total of each metric, and for times also the total in nanoseconds.
func amounts(rec *recording.Recording) (all [][]*big.Rat) {
	scale := map[string]int64{"us": 1e3, "µs": 1e3, "microseconds": 1e3, "ms": 1e6, "milliseconds": 1e6, "s": 1e9, "seconds": 1e9}
	for i := range rec.Events {
		for k, m := range rec.Events[i].Metrics {
			total := m.Total
			if total == recording.Missing { // computed on demand
				w, err := analyze.Weigh(context.Background(), rec, analyze.Query{Event: i, Metric: k})
				if err != nil {
					panic(err)
				}
				total = analyze.NewTree(rec, w).Nodes[0].Total
			}
			x := new(big.Rat).SetInt64(total)
			x.Quo(x, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(m.Decimals)), nil)))
			forms := []*big.Rat{x}
			if f := scale[m.Unit]; f != 0 {
				forms = append(forms, new(big.Rat).Mul(x, new(big.Rat).SetInt64(f)))
			}
			all = append(all, forms)
		}
	}
	return all
}
