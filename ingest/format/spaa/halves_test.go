package spaa

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// dtrace returns a file of halves. Each stack is given as "id half frame context… >
// related…".
func dtrace(stacks ...string) string {
	ls := []string{
		`{"type":"header","format":"spaa","version":"1.0","source_tool":"dtrace","frame_order":"leaf_to_root","events":[{"name":"p","kind":"timer","sampling":{"mode":"frequency","primary_metric":"samples"}},{"name":"q","kind":"probe","sampling":{"mode":"event","primary_metric":"samples"}}],"stack_id_mode":"local"}`,
		`{"type":"dso","id":1,"name":"d"}`,
	}
	for i := range 9 {
		ls = append(ls, fmt.Sprintf(`{"type":"frame","id":%d,"func":"f%d","dso":1,"kind":"user"}`, i, i))
	}
	for _, s := range stacks {
		own, related, _ := strings.Cut(s, " > ")
		f := strings.Fields(own)
		event := "p"
		var context []string
		for _, kv := range f[3:] {
			k, v, _ := strings.Cut(kv, "=")
			if k == "event" {
				event = v
				continue
			}
			context = append(context, fmt.Sprintf(`,%q:%s`, k, v))
		}
		var ids []string
		for _, id := range strings.Fields(related) {
			ids = append(ids, fmt.Sprintf("%q", id))
		}
		half := ""
		if f[1] != "-" {
			half = fmt.Sprintf(`"stack_type":%q,`, f[1])
		}
		ls = append(ls, fmt.Sprintf(`{"type":"stack","id":%q,%s"frames":[%s],"related_stacks":[%s],"context":{"event":%q%s},"weights":[{"metric":"samples","value":1}]}`,
			f[0], half, f[2], strings.Join(ids, ","), event, strings.Join(context, "")))
	}
	return lines(ls...)
}

func TestHalves(t *testing.T) {
	for _, c := range []struct {
		name   string
		stacks []string
		want   string // "user row+kernel row=joined stack"
		warn   string
	}{
		{name: "both name each other", stacks: []string{"a user 1 > b", "b kernel 2 > a"}, want: "0+1=f1;f2"},
		{name: "only the first does", stacks: []string{"a user 1 > b", "b kernel 2"}, want: "0+1=f1;f2"},
		{name: "only the second does", stacks: []string{"a kernel 1", "b user 2 > a"}, want: "1+0=f2;f1"},
		{name: "one has several", stacks: []string{"a user 1 > b c", "b kernel 2", "c kernel 3"}, want: "0+1=f1;f2 0+2=f1;f3"},
		{name: "no halves", stacks: []string{"a - 1 > b", "b unified 2 > a"}},
		{name: "two of a kind", stacks: []string{"a user 1 > b", "b user 2 > a"}},
		{name: "another event", stacks: []string{"a user 1 > b", "b kernel 2 event=q > a"}},
		{name: "missing", stacks: []string{"a user 1 > x", "b kernel 2 > a"}, want: "0+1=f1;f2", warn: "related-missing×1@line 12"},
		{name: "ids of several threads", stacks: []string{
			"a user 1 pid=1 tid=1 > b", "a user 1 pid=1 tid=2 > b", "b kernel 2 pid=1 tid=2 > a", "b kernel 2 pid=1 tid=1 > a"},
			want: "0+3=f1;f2 1+2=f1;f2"},
		{name: "ids of several processors", stacks: []string{
			"a user 1 cpu=0 > b", "a user 1 cpu=1 > b", "b kernel 2 cpu=1"}, want: "1+2=f1;f2"},
		{name: "which of two is not told", stacks: []string{
			"a user 1 pid=1 tid=1 > b", "b kernel 2 pid=2 tid=2", "b kernel 2 pid=3 tid=3"}},
		{name: "a half that names no thread", stacks: []string{"a user 1 pid=1 tid=1 > b", "b kernel 2"}, want: "0+1=f1;f2"},
	} {
		for _, chunk := range []int{0, 200} {
			rec, err := tryRead(dtrace(c.stacks...), 2, chunk)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, h := range rec.Stacks[0].Halves() {
				got = append(got, fmt.Sprintf("%d+%d=%s", h.User, h.Kernel, stackText(rec, h.Joined)))
			}
			equal(t, c.name, strings.Join(got, " "), c.want)
			equal(t, c.name, rec.Pairs() > 0, c.want != "")
			all := strings.Fields(strings.ReplaceAll(codes(rec), "line ", "line_"))
			related := slices.IndexFunc(all, func(s string) bool { return strings.HasPrefix(s, "related-missing") })
			warn := ""
			if related >= 0 {
				warn = strings.ReplaceAll(all[related], "line_", "line ")
			}
			equal(t, c.name, warn, c.warn)
		}
	}
}
