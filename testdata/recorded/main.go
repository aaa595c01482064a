// Command visits is the program recorded in this folder. Again and again, it generates a
// log of visits to a web server, reads it, counts visits by visitor, and prints a report.
// README.md explains how it was recorded.
//
// Built with the tag "indexed", it finds visitors with a map instead of a linear search.
// This is the only difference between before and after.
package main

import (
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"runtime/pprof"
	"sort"
	"strconv"
	"strings"
	"time"
)

func main() {
	profile := flag.String("cpuprofile", "", "write a CPU profile to this file")
	rounds := flag.Int("rounds", 100, "how often to do it all")
	flag.Parse()
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		defer pprof.StopCPUProfile()
	}
	began := time.Now()
	var report string
	for round := range *rounds {
		report = analyse(makeLog(20_000, uint64(round+1)))
	}
	fmt.Printf("%sin %v\n", report, time.Since(began).Round(time.Millisecond))
}

// visit is a line of the log.
type visit struct {
	visitor, bytes uint64
	path           string
}

// makeLog makes up the text of a log.
func makeLog(lines int, seed uint64) string {
	var b strings.Builder
	x := seed * 0x9e3779b97f4a7c15
	for range lines {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		fmt.Fprintf(&b, "%d GET /page/%d %d\n", 100_000+x%4000, x>>16%97, x>>32%65536)
	}
	return b.String()
}

// analyse reads a log and reports on it.
func analyse(log string) string {
	visits := parse(log)
	all := newVisitors()
	for _, v := range visits {
		count(all.find(v.visitor), v)
	}
	sort.Sort(&bySize{visits})
	return fmt.Sprintf("%d visits of %d visitors, most at once %d, mark %x, check %x\n",
		len(visits), len(all.list), visits[0].bytes, mark(visits), checksum(log))
}

// parse reads the lines of a log.
func parse(log string) []visit {
	var out []visit
	for line := range strings.Lines(log) {
		f := strings.Fields(line)
		who, err := strconv.ParseUint(f[0], 10, 64)
		if err != nil {
			panic(err)
		}
		n, err := strconv.ParseUint(f[3], 10, 64)
		if err != nil {
			panic(err)
		}
		out = append(out, visit{who, n, f[2]})
	}
	return out
}

// visitor holds the totals of one visitor.
type visitor struct {
	id, visits, bytes uint64
}

func count(at *visitor, v visit) {
	at.visits++
	at.bytes += v.bytes
}

// bySize sorts visits, the largest first.
type bySize struct{ all []visit }

func (s *bySize) Len() int           { return len(s.all) }
func (s *bySize) Less(i, j int) bool { return s.all[i].bytes > s.all[j].bytes }
func (s *bySize) Swap(i, j int)      { s.all[i], s.all[j] = s.all[j], s.all[i] }

// mark returns a number that depends on every visit and on their order.
func mark(visits []visit) uint64 {
	h := fnv.New64a()
	for _, v := range visits {
		h.Write([]byte(v.path))
	}
	return h.Sum64()
}

// checksum returns the Adler-32 checksum of a text, computed byte by byte.
func checksum(text string) uint32 {
	a, b := uint32(1), uint32(0)
	for i := range len(text) {
		a = (a + uint32(text[i])) % 65521
		b = (b + a) % 65521
	}
	return b<<16 | a
}
