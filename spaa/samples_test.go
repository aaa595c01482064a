package spaa

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ashlar/testdata/samples"
)

// sampleFacts holds the counts that an independent reader found in a file.
type sampleFacts struct {
	records map[string]int
	ids     int
	sums    map[string]int64 // "event/metric"
}

var (
	factRecords = regexp.MustCompile(`records \{([^}]*)\}; unique stack ids (\d+); sum\(primary\) \{([^}]*)\}`)
	factPair    = regexp.MustCompile(`'([^']*)': (\d+)`)
)

// sampleFiles returns the SPAA files of the sample folder, each with the facts in INDEX.md.
func sampleFiles(t *testing.T) map[string]sampleFacts {
	files := map[string]sampleFacts{}
	for line := range strings.Lines(string(samples.Read(t, "INDEX.md"))) {
		name, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		m := factRecords.FindStringSubmatch(line)
		if !ok || !strings.HasPrefix(name, "spaa/") || m == nil {
			continue
		}
		facts := sampleFacts{records: map[string]int{}, sums: map[string]int64{}}
		for _, p := range factPair.FindAllStringSubmatch(m[1], -1) {
			facts.records[p[1]], _ = strconv.Atoi(p[2])
		}
		facts.ids, _ = strconv.Atoi(m[2])
		for _, p := range factPair.FindAllStringSubmatch(m[3], -1) {
			facts.sums[p[1]], _ = strconv.ParseInt(p[2], 10, 64)
		}
		files[samples.Path(t, name)] = facts
	}
	if len(files) < 8 {
		t.Fatalf("the index describes %d SPAA files, want 8 or more", len(files))
	}
	return files
}

func TestSamplesRead(t *testing.T) {
	for path, want := range sampleFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			r, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			got := sampleFacts{records: map[string]int{}, sums: map[string]int64{}}
			ids := map[ID]bool{}
			var header *Header
			for {
				rec, err := r.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				got.records[rec.RecordType()]++
				switch rec := rec.(type) {
				case *Header:
					header = rec
				case *Stack:
					ids[rec.ID] = true
					e := header.Event(rec.Context.Event)
					n, exact := rec.Weight(e.Sampling.PrimaryMetric).Int64()
					if !exact {
						t.Errorf("line %d: the primary metric is no integer", r.Line())
					}
					got.sums[e.Name+"/"+e.Sampling.PrimaryMetric] += n
				}
			}
			got.ids = len(ids)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestSamplesValid(t *testing.T) {
	for path, want := range sampleFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			report, err := Validate(f, ValidateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for kind, n := range want.records {
				if report.Records[kind] != int64(n) {
					t.Errorf("%d %s records, want %d", report.Records[kind], kind, n)
				}
			}
			for _, f := range report.Findings {
				if f.Severity == Error {
					t.Error(f)
				}
			}
			t.Log(report.Counts)
		})
	}
}

// Reading and writing a file keeps its records, and writing them again gives the same
// bytes.
func TestSamplesRoundTrip(t *testing.T) {
	for path := range sampleFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			checkRoundTrip(t, text)
			before := bytes.Split(text, []byte("\n"))
			after := bytes.Split(writeAll(t, readAll(t, text)), []byte("\n"))
			if len(before) != len(after) {
				t.Fatalf("%d lines became %d", len(before), len(after))
			}
			for i := range before[:len(before)-1] {
				if !sameJSON(t, before[i], after[i]) {
					t.Fatalf("line %d lost something:\n%s\n%s", i+1, before[i], after[i])
				}
			}
		})
	}
}
