package assembly_test

import (
	"fmt"
	"strings"
	"testing"

	"ashlar/app/core/assembly"
	"ashlar/ingest/format/program/disasm"
)

// listingOf returns a listing of instructions given as "text" or "text=self". A jump is
// written "jne N", where N is the index of its target.
func listingOf(base uint64, texts ...string) *assembly.Listing {
	l := &assembly.Listing{Parts: []assembly.Part{{Low: base, High: base + uint64(4*len(texts)), Last: len(texts)}}}
	for i, t := range texts {
		in := assembly.Inst{Inst: disasm.Inst{Addr: base + uint64(4*i), Size: 4}}
		text, self, _ := strings.Cut(t, "=")
		if self != "" {
			fmt.Sscan(self, &in.Self)
			in.Count = in.Self
		}
		var to uint64
		if n, _ := fmt.Sscanf(text, "jne %d", &to); n == 1 {
			in.Kind, in.Target = disasm.Branch, base+4*to
			text = fmt.Sprintf("jne %#x", in.Target)
		}
		if strings.HasPrefix(text, "call") {
			in.Kind = disasm.Call
		}
		in.Text = text
		l.Self += in.Self
		l.Insts = append(l.Insts, in)
	}
	return l
}

func rowsOf(al *assembly.Alignment) string {
	var b strings.Builder
	for _, r := range al.Rows {
		switch {
		case r.A < 0:
			fmt.Fprintf(&b, "+%d ", r.B)
		case r.B < 0:
			fmt.Fprintf(&b, "-%d ", r.A)
		default:
			fmt.Fprintf(&b, "%d=%d ", r.A, r.B)
		}
	}
	return strings.TrimSpace(b.String())
}

// TestAlign aligns a loop with the same loop in other registers, at another address and with a
// bounds check.
func TestAlign(t *testing.T) {
	a := listingOf(0x1000, "push %rbx", "mov 0x8(%rsp),%eax", "lea 0x2f31(%rip),%rdi", "xor %eax,%edx=10", "add $0x1,%rcx=20", "jne 3=5", "call 0x1030 <f>", "ret")
	b := listingOf(0x8000, "push %rbp", "mov 0x18(%rsp),%r9d", "lea 0x11(%rip),%rsi", "cmp %r8,%r10=9", "jne 10=1", "xor %r9d,%r10d=12", "add $0x1,%r11=22", "jne 3=4", "call 0x9990 <f>", "ret", "call 0x9000 <runtime.panicIndex>")
	al := assembly.Align(a, b)
	if got, want := rowsOf(al), "0=0 1=1 2=2 +3 +4 3=5 4=6 5=7 6=8 7=9 +10"; got != want || al.Doubt != "" {
		t.Errorf("%s %q\nwant %s", got, al.Doubt, want)
	}
	c := al.HotLoop()
	if c == nil || c.First != 3 || c.Last != 7 || c.SelfA != 35 || c.SelfB != 48 || len(c.Added) != 2 || len(c.Removed) != 0 || c.Exits != 1 || c.Checks != 1 {
		t.Errorf("the loop: %+v", c)
	}
	// The sentence says what is certain and what is not.
	for _, x := range []struct {
		a, b *assembly.Listing
		want string
	}{
		{a, b, "The loop at +0xc gained a bounds check (2 instructions): self +37.1 %, which may be chance (A 35, B 48 samples)."},
		{a, listingOf(0x3000, "xor %eax,%edx=100", "add $0x1,%rcx=200", "jne 0=5"), "The loop at +0x0 has the same code: self +771.4 %."},
		{a, listingOf(0x3000, "xor %eax,%edx=11", "add $0x1,%rcx=20", "jne 0=5"), ""},
		{listingOf(0x3000, "xor %eax,%edx=100", "nop=50", "add $0x1,%rcx=200", "jne 0=5"), listingOf(0x3000, "xor %eax,%edx=100", "add $0x1,%rcx=100", "jne 0=5"), "The loop at +0x0 lost 1 instruction: self −42.3 %."},
		// The check is the branch back, and the code behind the loop fails.
		{listingOf(0x3000, "xor %eax,%edx=100", "nop=50", "add $0x1,%rcx=200", "jne 0=5", "ret"), listingOf(0x3000, "xor %eax,%edx=100", "add $0x1,%rcx=200", "cmp %r8,%r10=150", "jne 0=200", "call 0x9000 <runtime.panicBounds>", "ret"), "The loop at +0x0 gained a bounds check (1 instruction added, 1 removed): self +83.1 %."},
		{listingOf(0x3000, "nop", "ret", "hlt=9"), listingOf(0x3000, "leave", "cltq=400", "jne 0"), ""},
	} {
		if got := assembly.Align(x.a, x.b).Sentence(false); got != x.want {
			t.Errorf("%q\nwant %q", got, x.want)
		}
	}
	same := assembly.Align(a, listingOf(0x3000, "xor %eax,%edx=100", "add $0x1,%rcx=200", "jne 0=5"))
	if got := same.Sentence(true); got != "" {
		t.Errorf("within noise: %q", got)
	}
	// A changed constant is not a match.
	if got := rowsOf(assembly.Align(listingOf(0, "add $0x1,%ecx", "ret"), listingOf(0, "add $0x2,%ecx", "ret"))); got != "-0 +0 1=1" {
		t.Error(got)
	}
	if al := assembly.Align(listingOf(0, "nop", "ret", "hlt"), listingOf(0, "leave", "cltq", "ret")); !strings.Contains(al.Doubt, "only 1 of 3") {
		t.Errorf("%+v", al)
	}
	// Far too many instructions for a table: those that occur once are the anchors.
	var long, changed []string
	for i := range 9000 {
		long = append(long, fmt.Sprintf("add $0x%x,(mem)", i/3), fmt.Sprintf("op%d", i))
		changed = append(changed, fmt.Sprintf("add $0x%x,(mem)", i/3))
		if i%9 > 0 {
			changed = append(changed, fmt.Sprintf("op%d", i))
		} else {
			changed = append(changed, "new")
		}
	}
	al = assembly.Align(listingOf(0, append([]string{"first"}, long...)...), listingOf(0, append([]string{"begin"}, append(changed, "end")...)...))
	if al.Matched != 17_000 {
		t.Errorf("%d of 18,000 instructions are matched", al.Matched)
	}
}
