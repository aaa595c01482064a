package overview_test

import (
	"fmt"
	"strings"
	"testing"

	"ashlar/app/agent/overview"
	"ashlar/ingest"
	"ashlar/ingest/input/source"
)

// TestKinds checks that overview puts what is unusual before costs, each under its heading,
// and says so if a program with a hot function does nothing unusual.
func TestKinds(t *testing.T) {
	for _, slow := range []bool{false, true} {
		var events []string
		at := 0
		for i := range 400 {
			length := 1000
			if slow && i%20 == 19 {
				length = 9000
				events = append(events, fmt.Sprintf(`{"ph":"X","pid":1,"tid":1,"ts":%d,"dur":%d,"name":"load"}`, at+100, 8000))
			}
			events = append(events, fmt.Sprintf(`{"ph":"X","pid":1,"tid":1,"ts":%d,"dur":%d,"name":"Frame"}`, at, length+i%7),
				fmt.Sprintf(`{"ph":"X","pid":1,"tid":1,"ts":%d,"dur":%d,"name":"mix"}`, at+length-95, 95),
				fmt.Sprintf(`{"ph":"X","pid":1,"tid":1,"ts":%d,"dur":%d,"name":"input"}`, at+10, 50))
			for k := range 20 { // four threads encode all the time
				events = append(events, fmt.Sprintf(`{"ph":"X","pid":1,"tid":%d,"ts":%d,"dur":%d,"name":"encode"}`, 2+k%4, at+k/4*(length/5), length/5-1))
			}
			at += length + i%7
		}
		l := ingest.OpenInput(t.Context(), source.FromBytes("a.json", []byte("["+strings.Join(events, ",")+"]")), ingest.Options{})
		if err := l.Wait(); err != nil {
			t.Fatal(err)
		}
		o, err := overview.Of(t.Context(), l.Snapshot())
		if err != nil {
			t.Fatal(err)
		}
		text := o.Text()
		calm := strings.Contains(text, "\nnothing unusual found")
		unusual, costs, own := strings.Index(text, "\nunusual\n"), strings.Index(text, "\nwhere the time goes"), strings.Index(text, "harmless if")
		if calm == slow || (unusual >= 0) != slow || (len(o.Unusual) > 0) != slow || len(o.Costs) == 0 || own < costs || unusual > costs {
			t.Errorf("slow %t: %+v, %+v\n%s", slow, o.Unusual, o.Costs, text)
		}
	}
}
