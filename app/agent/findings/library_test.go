package findings

import (
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
)

// claimsOf returns the sentences of a rule.
func claimsOf(all []Finding, rule string) (claims []string) {
	for _, f := range all {
		if f.Rule == rule {
			claims = append(claims, f.Claim)
		}
	}
	return claims
}

// TestLibrary checks that the kind of library work with the largest cost is found, with the
// function of the program that calls most of it; not if it has too little of the total or if
// the program waits in it.
func TestLibrary(t *testing.T) {
	for content, want := range map[string]string{
		"main.main;main.serve;main.valid;regexp.MustCompile;regexp.compile 500\nmain.main;main.warm;regexp.MustCompile 100\nmain.main;main.serve 400\nmain.main;fmt.Sprintf 200\n": "Compiling regular expressions: 600 (50.0 %) of samples, 83.3 % of it below “main.valid”.",
		"main.main;main.serve;fmt.Sprintf;fmt.Fprint 600\nmain.main;nanosleep 900\nmain.main;main.serve 500\n":                                                                     "Formatting text: 600 (30.0 %) of samples (54.5 % of the non-idle total), 100 % of it below “main.serve”.",
		"app;parse;__cxa_throw;_Unwind_RaiseException 300\napp;parse 400\napp;sum 300\n":                                                                                           "Throwing exceptions or walking stacks: 300 (30.0 %) of samples, 100 % of it below “parse”.",
		"main.main;main.fetch;crypto/tls.(*Conn).HandshakeContext;crypto.SignMessage 400\nmain.main;main.serve 600\n":                                                              "Setting up encrypted connections: 400 (40.0 %) of samples, 100 % of it below “main.fetch”.",
		"main.main;main.serve;regexp.MustCompile 200\nmain.main;main.serve 800\n":                                                                                                  "",
		"main.main;main.serve;runtime.mallocgc 350\nmain.main;main.serve 650\n":                                                                                                    "",
		"app;save;fsync;nanosleep 600\napp;sum 400\n":                                                                                                                              "",
	} {
		_, found := foundIn(t, "a.folded", []byte(content))
		if got := strings.Join(claimsOf(found, "library"), "\n"); got != want {
			t.Errorf("got %q, want %q of\n%s", got, want, content)
		}
	}
}

// TestLibraryOnce checks that a library function that takes most of the time is one finding,
// also if it is an inner function of the library and one function of the program calls it.
func TestLibraryOnce(t *testing.T) {
	for content, want := range map[string]int{
		"main;edit;memmove 900\nmain;edit 50\nmain;load 50\n":                                                         0,
		"shop.Main.sum;java.util.LinkedList.get;java.util.LinkedList.node 900\nshop.Main.sum 20\nshop.Main.load 80\n": 0,
		"main.main;main.serve;fmt.Sprintf 300\nmain.main;main.serve 600\nmain.main;main.load 100\n":                   1, // what it does itself is more
	} {
		_, found := foundIn(t, "a.folded", []byte(content))
		if got := len(claimsOf(found, "hot")) + len(claimsOf(found, "own")); got != want || len(claimsOf(found, "library")) != 1 {
			t.Errorf("%d beside the library, want %d: %+v", got, want, found)
		}
	}
}

// TestSyncingStates checks that system calls that write files to the disk are found among the
// states of goroutines, and that other library work is not.
func TestSyncingStates(t *testing.T) {
	for _, name := range []string{"os.(*File).Sync", "fmt.Sprintf"} {
		b := recording.NewBuilder()
		b.AddEvent(recording.StateEvent())
		stack := func(names ...string) (c recording.CallID) {
			for _, n := range names {
				c = b.Call(c, b.FunctionFrame(b.Function(recording.Function{Name: n})))
			}
			return c
		}
		track := b.Track(recording.TrackKey{PID: 1, TID: 1})
		in := b.Call(stack("main.save", name), b.StateFrame(recording.InSystemCall, ""))
		run := b.Call(stack("main.save"), b.StateFrame(recording.Running, ""))
		for at := int64(0); at < 100e9; at += 1e9 {
			track.State(at, at+6e8, in, recording.NoTrack)
			track.State(at+6e8, at+1e9, run, recording.NoTrack)
		}
		found, err := Of(t.Context(), b.Finish())
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		if name == "os.(*File).Sync" {
			want = []string{"Waiting until files are on the disk: 60.00 ms (60.0 %) of wall, 100 % of it below “main.save”."}
		}
		if got := claimsOf(found, "library"); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// chain makes three goroutines that hand on 100 items: the second works 2 ms for each, the
// first and the third wait for it. If even, each works 2 ms and nobody waits long.
func chain(even bool) *recording.Builder {
	const ms = int64(1e9)
	b := recording.NewBuilder()
	b.AddEvent(recording.StateEvent())
	b.ProcessInfo(b.Process(1)).Member = "goroutine"
	stack := func(names ...string) (c recording.CallID) {
		for _, n := range names {
			c = b.Call(c, b.FunctionFrame(b.Function(recording.Function{Name: n})))
		}
		return c
	}
	run := b.StateFrame(recording.Running, "")
	for i, name := range []string{"main.read", "main.resize", "main.write"} {
		track := b.Track(recording.TrackKey{PID: 1, TID: int64(i + 1)})
		track.SetName(name)
		for k := range int64(100) {
			at := 2 * k * ms
			if i == 1 || even {
				track.State(at, at+2*ms, b.Call(stack(name), run), recording.NoTrack)
				continue
			}
			wait := b.Call(stack(name, "runtime.chanrecv1"), b.StateFrame(recording.Blocked, "chan receive"))
			track.State(at, at+ms, wait, recording.NoTrack)
			track.StateBy(at+ms, at+2*ms, b.Call(stack(name), run), b.Waker(1, stack("main.resize", "runtime.chansend1")))
		}
	}
	return b
}

// TestBottleneck checks that the goroutine is found that two others wait for, and that none is
// found if none waits.
func TestBottleneck(t *testing.T) {
	for even, want := range map[bool][]string{
		false: {"Goroutine “main.resize”, mostly in “main.resize”, ends 200 waits of 2 goroutines for channels or signals, 200.0 ms in total, and itself waits for 0 % of 200.0 ms."},
		true:  nil,
	} {
		found, err := Of(t.Context(), chain(even).Finish())
		if err != nil {
			t.Fatal(err)
		}
		if got := claimsOf(found, "bottleneck"); !slices.Equal(got, want) {
			t.Errorf("even: %v; got %q, want %q", even, got, want)
		}
	}
}

// TestDisk checks that a thread is found that sleeps uninterruptibly for a tenth of the time, or
// much more often than its peers, but not one of several alike.
func TestDisk(t *testing.T) {
	const ms = int64(1e9)
	for what, c := range map[string]struct {
		sleeps [3]int64 // length in µs of each thread's sleep every 10 ms
		want   []string
	}{
		"much":   {[3]int64{2000, 2000, 0}, []string{"Thread “handler-0” sleeps uninterruptibly, as threads do while they wait for a disk, 100 times for 200.0 ms in total (20.0 % of the recording), its 2 peers at most 100 times."}},
		"unlike": {[3]int64{100, 0, 0}, []string{"Thread “handler-0” sleeps uninterruptibly, as threads do while they wait for a disk, 100 times for 10.00 ms in total (1.0 % of the recording), its 2 peers never."}},
		"alike":  {[3]int64{100, 100, 100}, nil},
	} {
		b := recording.NewBuilder()
		b.AddEvent(recording.StateEvent())
		run, sleep := b.Call(recording.NoCall, b.StateFrame(recording.Running, "")), b.Call(recording.NoCall, b.StateFrame(recording.Blocked, "sleeping, uninterruptible"))
		for i, length := range c.sleeps {
			track := b.Track(recording.TrackKey{PID: 1, TID: int64(i + 1)})
			track.SetName("handler-" + string(rune('0'+i)))
			for at := int64(0); at < 1000*ms; at += 10 * ms {
				asleep := length * 1e6
				if asleep > 0 {
					track.State(at, at+asleep, sleep, recording.NoTrack)
				}
				track.State(at+asleep, at+10*ms, run, recording.NoTrack)
			}
		}
		found, err := Of(t.Context(), b.Finish())
		if err != nil {
			t.Fatal(err)
		}
		if got := claimsOf(found, "disk"); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", what, got, c.want)
		}
	}
}
