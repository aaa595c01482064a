// Command demo writes the built-in recording: 1.3 seconds of a made-up shop
// service called checkout, as a profiler would have recorded it. Nothing in it
// is measured, and the same command always writes the same bytes.
//
//	go run ./assets/demo -o assets/demo.spaa.zst
//
// The story is in story.go: the service starts, two workers answer requests,
// one order is slow because of its pricing rules, and the memory that this
// takes brings on a garbage collection that stops everybody.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	out := flag.String("o", "demo.spaa.zst", "the file to write")
	flag.Parse()
	if err := write(*out, tell()); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}
