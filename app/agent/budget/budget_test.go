package budget

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
)

type row struct {
	Name string      `json:"name"`
	Self json.Number `json:"self"`
}

type answer struct {
	File string   `json:"file"`
	Rows []row    `json:"rows"`
	Tags []string `json:"tags"`
}

func made(n int) *answer {
	a := &answer{File: "/runs/a.spaa", Tags: []string{"x", "y"}}
	for i := range n {
		a.Rows = append(a.Rows, row{fmt.Sprintf("function %d", i), json.Number(fmt.Sprint(n - i))})
	}
	return a
}

// TestJSON checks that each budget is kept and used up, and that the number and share of
// left-out rows are those of the missing rows.
func TestJSON(t *testing.T) {
	a := made(300)
	before := -1
	for tokens := 60; tokens < 4000; tokens = tokens*5/4 + 1 {
		b, err := JSON(a, tokens, "ashlar top a")
		if err != nil {
			t.Fatal(err)
		}
		if len(b) > 4*tokens {
			t.Errorf("%d tokens have %d bytes", tokens, len(b))
		}
		var got struct {
			answer
			Left []LeftOut `json:"left_out"`
			All  string    `json:"all"`
		}
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		if len(got.Rows) < before || len(got.Rows) < 300 && len(b) < 4*tokens-200 {
			t.Errorf("%d tokens have %d rows in %d bytes, a smaller budget %d", tokens, len(got.Rows), len(b), before)
		}
		if before = len(got.Rows); before == 300 {
			continue
		}
		sum := 0
		for _, r := range a.Rows[before:] {
			n := 0
			fmt.Sscan(string(r.Self), &n)
			sum += n
		}
		want := new(big.Rat).SetFrac64(int64(sum), 300*301/2).FloatString(4)
		if l := got.Left[0]; got.All != "ashlar top a" || l.List != "rows" || l.Left != 300-before || l.Of != 300 || string(l.Share) != want || l.By != "self" {
			t.Errorf("%d rows: %+v, want a share of %s", before, got.Left, want)
		}
	}
	if before != 300 {
		t.Error("no budget was enough")
	}
	if _, err := JSON(a, 10, "ashlar top a"); err == nil || !strings.Contains(err.Error(), "ashlar top a") {
		t.Errorf("10 tokens: %v", err)
	}
}

// TestLongTexts checks that a text longer than the budget is cut in the middle, because no
// list can be shortened instead.
func TestLongTexts(t *testing.T) {
	b, err := JSON(map[string]string{"name": strings.Repeat("äöü\u202e\x1b", 4000)}, 200, "all of it")
	if err != nil || len(b) > 800 || !json.Valid(b) || !strings.Contains(string(b), "…") || !strings.Contains(string(b), "all of it") {
		t.Errorf("%d bytes: %v", len(b), err)
	}
}

// TestRows checks the same for answers written as text.
func TestRows(t *testing.T) {
	a := made(100)
	write := func(n int) string {
		s := "head\n"
		for _, r := range a.Rows[:n] {
			s += r.Name + "\n"
		}
		return s
	}
	for tokens := 30; tokens < 600; tokens += 7 {
		s, err := Rows(a, "rows", 100, tokens, "ashlar top a", write)
		if err != nil || Tokens(len(s)) > tokens {
			t.Fatalf("%d tokens: %v\n%s", tokens, err, s)
		}
		if n := strings.Count(s, "function"); n < 100 && !strings.Contains(s, fmt.Sprintf("left out: %d of 100 rows, with ", 100-n)) {
			t.Errorf("%d tokens have %d rows: %s", tokens, n, s)
		}
	}
	s, err := Rows(a, "", 100, 40, "ashlar top a", write)
	if err == nil && !strings.Contains(s, "head") {
		t.Error(s)
	}
	long := strings.Repeat("a line of text\n", 100)
	if s, err := Lines(long, 100, "more"); err != nil || len(s) > 400 || !strings.HasSuffix(s, "of 100 lines; all: more\n") {
		t.Errorf("%v: %s", err, s)
	}
}

// TestLargestBudget checks that the largest budget that a flag accepts leaves nothing out and
// does not overflow.
func TestLargestBudget(t *testing.T) {
	a := made(100)
	want, err := JSON(a, 1_000_000, "more")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := JSON(a, math.MaxInt, "more"); err != nil || string(b) != string(want) {
		t.Errorf("%v: %.200s", err, b)
	}
	for _, list := range []string{"rows", ""} {
		if s, err := Rows(a, list, 100, math.MaxInt, "more", func(n int) string { return fmt.Sprint(n) }); err != nil || s != "100" {
			t.Errorf("%v: %q", err, s)
		}
	}
}

// TestLongLists checks that cutting a list before it is encoded gives the same answer as
// cutting it afterwards, including the notes on omissions.
func TestLongLists(t *testing.T) {
	a := made(20_000)
	a.Rows[17_000].Self = "123456789012345678901234567890"
	a.Rows[18_000].Self = "-77.25"
	for _, tokens := range []int{90, 400, 2000} {
		short, err := JSON(a, tokens, "ashlar top a")
		if err != nil {
			t.Fatal(err)
		}
		// A map is cut only after encoding, because its type says nothing about its fields.
		whole, err := JSON(map[string]any{"file": a.File, "rows": a.Rows, "tags": a.Tags}, tokens, "ashlar top a")
		if err != nil {
			t.Fatal(err)
		}
		if string(short) != string(whole) {
			t.Errorf("%d tokens:\n%s\nand of all\n%s", tokens, short, whole)
		}
		text := func(n int) string {
			var b strings.Builder
			for _, r := range a.Rows[:n] {
				fmt.Fprintln(&b, r.Name, r.Self)
			}
			return b.String()
		}
		s, err := Rows(a, "rows", len(a.Rows), tokens, "ashlar top a", text)
		if err != nil || Tokens(len(s)) > tokens || len(s) < 4*tokens-120 || !strings.Contains(s, " of 20000 rows, with ") && !strings.Contains(s, " of 20,000 rows, with ") && !strings.Contains(s, "of 20 000 rows, with ") {
			t.Errorf("%d tokens: %v, %s", tokens, err, s)
		}
	}
}
