package spaa

import (
	"context"
	"os"
	"syscall"
	"testing"
	"fmt"
	"time"
	"strconv"

	"ashlar/ingest/decode"
	"ashlar/ingest/recording"
	"ashlar/ingest/source"
)

func cpu() time.Duration {
	var r syscall.Rusage
	syscall.Getrusage(0, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func TestScratch(t *testing.T) {
	path := os.Getenv("SCRATCH")
	if path == "" {
		t.Skip()
	}
	if _, err := os.Stat(path); err != nil {
		os.WriteFile(path, []byte(synthetic(os.Getenv("KIND"), 1000000, os.Getenv("SORTED") != "")), 0o644)
	}
	n, _ := strconv.Atoi(os.Getenv("N"))
	w, _ := strconv.Atoi(os.Getenv("W"))
	for range n {
		c, s := cpu(), time.Now()
		in, err := source.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		rb := recording.NewBuilder()
		rb.OnPublish = func(*recording.Recording) {}
		if err := Decode(context.Background(), in, rb, decode.Options{Workers: w}); err != nil {
			t.Fatal(err)
		}
		rec := rb.Finish()
		d, e := cpu()-c, time.Since(s)
		fmt.Printf("cpu %v = %.0f MB/s, wall %v = %.0f MB/s; %d stacks %d samples %s\n", d, float64(in.Bytes)/d.Seconds()/1e6, e, float64(in.Bytes)/e.Seconds()/1e6, rec.Counts.Stacks, rec.Counts.Samples, codes(rec))
		in.Close()
	}
}
