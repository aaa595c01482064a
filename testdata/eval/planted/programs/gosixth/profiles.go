package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Parts of a CPU-bound program.
var words = strings.Fields(strings.Repeat("the quick brown fox jumps over a lazy dog near some river bank ", 40))

//go:noinline
func countWords() int {
	m := map[string]int{}
	for i, w := range words {
		m[w] += i
	}
	return len(m)
}

//go:noinline
func orderWords() int { c := slices.Clone(words); slices.Sort(c); return len(c[0]) }

//go:noinline
func numbers() int {
	var b []byte
	for i := range 2500 {
		b = strconv.AppendInt(b, int64(i*i), 10)
	}
	return len(b)
}

//go:noinline
func checksum() int {
	h := 17
	for i := range 30000 {
		h = h*33 ^ i
	}
	return h
}

func plain() { sink.Add(int64(countWords() + orderWords() + numbers() + checksum())) }

// A timer for each message.
//
//go:noinline
func receive(in chan int) int {
	select {
	case v := <-in:
		return v
	case <-time.After(time.Minute):
		return 0
	}
}

func deadlines() {
	in := make(chan int, 1)
	for i := range 400 {
		in <- i
		sink.Add(int64(receive(in)))
	}
	plain()
}

// Each line of a log is written at once.
var logFile = func() *os.File { f, _ := os.OpenFile(os.DevNull, os.O_WRONLY, 0); return f }()

//go:noinline
func logLine(i int) { fmt.Fprintf(logFile, "item %d done\n", i) }

func logged() {
	for i := range 500 {
		logLine(i)
	}
	plain()
}

// A cache whose keys contain the time, so that it never hits.
var rateCache = map[string]int{}

//go:noinline
func rateOf(country string) int {
	key := country + time.Now().Format(time.RFC3339Nano)
	if r, ok := rateCache[key]; ok {
		return r
	}
	if len(rateCache) > 5000 {
		clear(rateCache)
	}
	r := computeRate(country)
	rateCache[key] = r
	return r
}

//go:noinline
func computeRate(country string) int {
	h := len(country)
	for i := range 4000 {
		h = h*31 ^ i>>3
	}
	return h
}

func rates() {
	for i := range 60 {
		sink.Add(int64(rateOf("c" + strconv.Itoa(i%4))))
	}
	plain()
}

// Sixteen bytes of each body are kept, and with them the body.
var ids [][]byte

//go:noinline
func readBody(r io.Reader) []byte {
	b, err := io.ReadAll(r)
	if err != nil {
		panic(err)
	}
	return b
}

//go:noinline
func register(body []byte) { ids = append(ids, body[:16]) }

//go:noinline
func decodeBody(b []byte) int {
	var v []map[string]int
	if json.Unmarshal(b, &v) != nil {
		return 1
	}
	return len(v)
}

func headers() {
	for i := range 900 {
		text := bytes.Repeat([]byte{byte(i), 1, 2, 3}, 3000)
		binary.LittleEndian.PutUint64(text, uint64(i))
		body := readBody(bufio.NewReader(bytes.NewReader(text)))
		register(body)
		sink.Add(int64(decodeBody([]byte(`[{"a":1},{"b":2}]`)) + countWords()))
	}
}

func heap() {
	kept := make([][]int, 0, 60)
	for i := range 600 {
		sink.Add(int64(countWords() + orderWords() + numbers() + decodeBody([]byte(`[{"a":1},{"b":2}]`))))
		if i%10 == 0 {
			kept = append(kept, parseRow(i))
		}
	}
	index := buildIndex(words)
	runtime.KeepAlive(kept)
	runtime.KeepAlive(index)
}

//go:noinline
func parseRow(i int) []int { return make([]int, 600+i%7) }

//go:noinline
func buildIndex(w []string) map[string][]int {
	m := map[string][]int{}
	for i := range 220 {
		k := w[i] + strconv.Itoa(i)
		m[k] = append(make([]int, 0, 128), i)
	}
	return m
}

// Waiters for an event that never happens.
//
//go:noinline
func notifyLater(event chan int) { <-event }

//go:noinline
func serveConn(c chan int) {
	for range c {
		sink.Add(int64(checksum()))
	}
}

func backgroundWork() {
	for range 6 {
		go serveConn(make(chan int))
	}
	go func() { time.Sleep(time.Hour) }()
	go func() { select {} }()
}

func leaking() {
	backgroundWork()
	clients(4, 90, func(int, int) {
		authenticate()
		go notifyLater(make(chan int))
	})
}

func working() {
	backgroundWork()
	clients(4, 20, func(int, int) { authenticate() })
}

// All requests add to the same metrics, with their lock held while a text is made.
type metricSet struct {
	sync.Mutex
	m map[string]int
}

//go:noinline
func (m *metricSet) observe(i int) {
	m.Lock()
	defer m.Unlock()
	for k := range 60 {
		m.m[fmt.Sprintf("latency_%d_%d", i%5, k)]++
	}
}

type smallCache struct {
	sync.Mutex
	m map[int]int
}

//go:noinline
func (c *smallCache) get(i int) int { c.Lock(); defer c.Unlock(); c.m[i%50]++; return c.m[i%50] }

func metrics() {
	m, c := &metricSet{m: map[string]int{}}, &smallCache{m: map[int]int{}}
	var w sync.WaitGroup
	for range 6 {
		w.Go(func() {
			for i := range 4000 {
				sink.Add(int64(checksum()))
				sink.Add(int64(c.get(i)))
				m.observe(i)
			}
		})
	}
	w.Wait()
}
