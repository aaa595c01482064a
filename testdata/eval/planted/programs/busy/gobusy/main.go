// Command gobusy has healthy programs that write an execution trace: gobusy MODE OUT. Nothing is
// planted.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"os"
	"runtime/trace"
	"sort"
	"strings"
	"sync"
)

func main() {
	f, err := os.Create(os.Args[2])
	if err != nil {
		panic(err)
	}
	if err := trace.Start(f); err != nil {
		panic(err)
	}
	map[string]func(){"words": words, "sudoku": sudoku, "chat": chat, "merkle": merkle}[os.Args[1]]()
	trace.Stop()
	f.Close()
}

// words counts words of documents with two workers.
func words() {
	jobs, done := make(chan int), make(chan map[string]int)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for seed := range jobs {
				var count map[string]int
				trace.WithRegion(context.Background(), "count", func() {
					count = map[string]int{}
					for w := range strings.FieldsSeq(document(seed)) {
						count[w]++
					}
				})
				done <- count
			}
		})
	}
	go func() {
		for i := range 600 {
			jobs <- i
		}
		close(jobs)
		wg.Wait()
		close(done)
	}()
	all := map[string]int{}
	for c := range done {
		trace.WithRegion(context.Background(), "merge", func() {
			for w, n := range c {
				all[w] += n
			}
		})
	}
	keys := make([]string, 0, len(all))
	for k := range all {
		keys = append(keys, k)
	}
	sort.Strings(keys)
}

func document(seed int) string {
	var b strings.Builder
	x := uint32(seed*2654435761 + 1)
	for range 3000 {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		fmt.Fprintf(&b, "w%d ", x%700)
	}
	return b.String()
}

// sudoku solves puzzles, one region each.
func sudoku() {
	for i := range 800 {
		trace.WithRegion(context.Background(), "solve", func() {
			var grid [81]byte
			for k := range 9 {
				grid[k*9+(k*2+i)%9] = byte(1 + (k+i)%9)
			}
			left := 8000
			solve(&grid, 0, &left)
		})
	}
}

func solve(g *[81]byte, at int, left *int) bool {
	for at < 81 && g[at] != 0 {
		at++
	}
	if *left--; at == 81 || *left < 0 {
		return at == 81
	}
next:
	for v := byte(1); v <= 9; v++ {
		r, c := at/9, at%9
		for k := range 9 {
			if g[r*9+k] == v || g[k*9+c] == v || g[(r/3*3+k/3)*9+c/3*3+k%3] == v {
				continue next
			}
		}
		g[at] = v
		if solve(g, at+1, left) {
			return true
		}
		g[at] = 0
	}
	return false
}

// chat is a server that sends each line of its four clients to all of them.
func chat() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	var mu sync.Mutex
	var conns []net.Conn
	ready := make(chan bool, 4)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, c)
			mu.Unlock()
			ready <- true
			go func() {
				for s := bufio.NewScanner(c); s.Scan(); {
					trace.WithRegion(context.Background(), "broadcast", func() {
						mu.Lock()
						to := append([]net.Conn(nil), conns...)
						mu.Unlock()
						for _, c := range to {
							fmt.Fprintln(c, s.Text())
						}
					})
				}
			}()
		}
	}()
	var wg sync.WaitGroup
	for i := range 4 {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			panic(err)
		}
		<-ready
		wg.Go(func() {
			s := bufio.NewScanner(c)
			for k := range 250 {
				trace.WithRegion(context.Background(), "say", func() { fmt.Fprintf(c, "client %d says %d\n", i, k) })
				s.Scan()
			}
		})
	}
	wg.Wait()
	l.Close()
}

// merkle hashes blocks into a tree, level by level.
func merkle() {
	block := bytes.Repeat([]byte("block"), 8000)
	for range 250 {
		trace.WithRegion(context.Background(), "tree", func() {
			var level [][32]byte
			trace.WithRegion(context.Background(), "leaves", func() {
				for i := range 16 {
					block[0] = byte(i)
					level = append(level, sha256.Sum256(block))
				}
			})
			trace.WithRegion(context.Background(), "inner", func() {
				for len(level) > 1 {
					for i := range len(level) / 2 {
						level[i] = sha256.Sum256(append(level[2*i][:], level[2*i+1][:]...))
					}
					level = level[:len(level)/2]
				}
			})
		})
	}
}
