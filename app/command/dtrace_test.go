package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// halfStack is a stack record of a DTrace file.
type halfStack struct {
	ID      string
	Type    string `json:"stack_type"`
	Frames  []int
	Related []string `json:"related_stacks"`
	Context struct{ Event string }
	Weights []struct{ Value int }
	names   []string // outermost first
}

// readHalves reads the stacks of testdata/dtrace.spaa, where ids are unique.
func readHalves(t *testing.T) []*halfStack {
	t.Helper()
	content, err := os.ReadFile("testdata/dtrace.spaa")
	if err != nil {
		t.Fatal(err)
	}
	names := map[int]string{}
	var stacks []*halfStack
	for line := range bytes.Lines(content) {
		var kind struct{ Type string }
		if err := json.Unmarshal(line, &kind); err != nil {
			t.Fatal(err)
		}
		switch kind.Type {
		case "frame":
			var f struct {
				ID   int
				Func string
			}
			if err := json.Unmarshal(line, &f); err != nil {
				t.Fatal(err)
			}
			names[f.ID] = f.Func
		case "stack":
			s := new(halfStack)
			if err := json.Unmarshal(line, s); err != nil {
				t.Fatal(err)
			}
			for _, f := range slices.Backward(s.Frames) {
				s.names = append(s.names, names[f])
			}
			stacks = append(stacks, s)
		}
	}
	return stacks
}

// naiveJoin joins user and kernel stacks one sample at a time: as long as both stacks of a
// pair have samples left, one of each becomes a joint sample. The remaining samples stay
// separate.
func naiveJoin(stacks []*halfStack, event string) map[string]int {
	left, paths := map[string]int{}, map[string]int{}
	for _, s := range stacks {
		if s.Context.Event == event {
			left[s.ID] = s.Weights[0].Value
		}
	}
	for _, u := range stacks {
		for _, k := range stacks {
			linked := slices.Contains(u.Related, k.ID) || slices.Contains(k.Related, u.ID)
			for linked && u.Type == "user" && k.Type == "kernel" && left[u.ID] > 0 && left[k.ID] > 0 {
				left[u.ID]--
				left[k.ID]--
				paths[strings.Join(append(slices.Clone(u.names), k.names...), ";")]++
			}
		}
	}
	for _, s := range stacks {
		if left[s.ID] > 0 {
			paths[strings.Join(s.names, ";")] += left[s.ID]
		}
	}
	return paths
}

// TestHalvesAreJoined compares top with naiveJoin, and top --split-related with the stacks of
// the file. It also checks grouping by the probe in the context.
func TestHalvesAreJoined(t *testing.T) {
	stacks := readHalves(t)
	for _, event := range []string{"profile-997", "syscall::read:entry"} {
		apart, sum := map[string]int{}, 0
		for _, s := range stacks {
			if s.Context.Event == event {
				apart[strings.Join(s.names, ";")] += s.Weights[0].Value
				sum += s.Weights[0].Value
			}
		}
		joined := naiveJoin(stacks, event)
		for _, c := range []struct {
			flags []string
			want  map[string]int
		}{{[]string{"--split-related"}, apart}, {nil, joined}} {
			r := run(append([]string{"top", "testdata/dtrace.spaa", "--event", event, "--tree", "--json"}, c.flags...)...)
			var v struct {
				Total, Joined json.Number
				Rows          []struct {
					Name  string
					Self  json.Number
					Depth int
				}
			}
			if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
				t.Fatal(err, r.stderr)
			}
			got := map[string]int{}
			var path []string
			total := 0
			for _, row := range v.Rows {
				path = append(path[:row.Depth-1], row.Name)
				if n, _ := row.Self.Int64(); n != 0 {
					got[strings.Join(path, ";")] += int(n)
					total += int(n)
				}
			}
			if !maps.Equal(got, c.want) || v.Total.String() != fmt.Sprint(total) {
				t.Errorf("%s %v: got %v, want %v", event, c.flags, got, c.want)
			}
			if once, _ := v.Joined.Int64(); total+int(once) != sum {
				t.Errorf("%s %v: %d and %d that count once are not %d", event, c.flags, total, once, sum)
			}
		}
	}
	rows, _, _ := askTop(t, "testdata/dtrace.spaa", "--event", "syscall::read:entry", "--by", "context:probe")
	if want := (map[string]bool{"syscall::read:entry 6 6": true, "syscall::write:entry 2 2": true}); !maps.Equal(rows, want) {
		t.Errorf("by probe: %v", rows)
	}
	info := run("info", "testdata/dtrace.spaa").stdout
	for _, want := range []string{"syscall::read:entry, syscall::write:entry", "pairs of user and kernel stacks", `refers to stack "gone"`, "related-missing, once, first at line 17"} {
		if !strings.Contains(info, want) {
			t.Errorf("info does not say %q:\n%s", want, info)
		}
	}
}
