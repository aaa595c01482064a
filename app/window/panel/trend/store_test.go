package trend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/trend"
)

// TestStore checks that a question cancels the one before it, that the number of runs read so
// far is known meanwhile, that at most four runs are read at once, and that an answer given
// before needs no reading.
func TestStore(t *testing.T) {
	var s Store
	defer s.Stop()
	files := func(n int) (all [2][]string) {
		for i := range n {
			all[0] = append(all[0], fmt.Sprint("run-", i))
		}
		return all
	}
	ask := func(n int, sum func(ctx context.Context, i int) (*trend.Sum, error)) *result {
		f := files(n)
		return s.ask(questionOf(f, "", "time", [2]int{}), f, func() {}, sum)
	}
	cancelled := make(chan struct{})
	stuck := func(ctx context.Context, i int) (*trend.Sum, error) {
		if i < 2 {
			return new(trend.Sum), nil
		}
		<-ctx.Done()
		if i == 2 {
			close(cancelled)
		}
		return nil, ctx.Err()
	}
	wait := func(what string, holds func() bool) {
		t.Helper()
		for end := time.Now().Add(10 * time.Second); !holds(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("waited in vain for ", what)
			}
		}
	}
	f := files(9)
	wait("the first two runs", func() bool {
		return ask(9, stuck) == nil && s.progress(questionOf(f, "", "time", [2]int{})) == 2
	})
	var mu sync.Mutex
	now, most := 0, 0
	count := func(by int) {
		mu.Lock()
		defer mu.Unlock()
		now += by
		most = max(most, now)
	}
	read := func(_ context.Context, i int) (*trend.Sum, error) {
		count(1)
		defer count(-1)
		time.Sleep(time.Millisecond)
		if i == 5 {
			return nil, errors.New("run-5: damaged")
		}
		return &trend.Sum{Metric: recording.Metric{Name: "time", Unit: "ns"}, Total: int64(i)}, nil
	}
	var got *result
	wait("the second answer", func() bool {
		got = ask(20, read)
		return got != nil
	})
	<-cancelled
	if got.Len() != 19 || most > 4 || !slices.Equal(got.out, []string{"run-5: damaged"}) {
		t.Errorf("%d runs count, %d were read at once, and left out are %q", got.Len(), most, got.out)
	}
	wait("another answer", func() bool { return ask(3, read) != nil })
	none := func(context.Context, int) (*trend.Sum, error) { panic("read again") }
	if again := ask(20, none); again != got {
		t.Error("the answer given before is gone")
	}
	for n := range mostKept {
		wait("further answers", func() bool { return ask(4+n, read) != nil })
	}
	if len(s.kept) != mostKept {
		t.Errorf("%d answers are kept", len(s.kept))
	}
}

// TestNoTrend checks the reason why there is none.
func TestNoTrend(t *testing.T) {
	r, err := find(t.Context(), question{}, [2][]string{{"a", "b"}}, func(i int) (*trend.Sum, error) {
		if i == 0 {
			return nil, errors.New("a: empty")
		}
		return new(trend.Sum), nil
	})
	if err != nil || r.err == nil || !slices.Equal(r.out, []string{"a: empty"}) {
		t.Errorf("%v, %v", r, err)
	}
}
