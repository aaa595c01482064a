package findings

import (
	"fmt"
	"testing"

	"ashlar/ingest"
	"ashlar/ingest/input/source"
)

// TestWeightWithoutStack checks a heap profile with mostly unknown stacks: no function may be
// blamed for their memory, and a recording without any function must not fail.
func TestWeightWithoutStack(t *testing.T) {
	for name, frames := range map[string]string{"no function": `""`, "one function": `"[root]","0x1: keep (a.c:1)"`} {
		content := fmt.Sprintf(`{"dhatFileVersion":2,"mode":"heap","verb":"Allocated","bklt":true,"bkacc":false,"tu":"instrs","Mtu":"Minstr","tuth":500,"cmd":"x","pid":7,"te":900,"tg":800,
"pps":[{"tb":1000000,"tbk":2000,"tl":1,"mb":9,"mbk":1,"gb":9,"gbk":1,"eb":0,"ebk":0,"fs":[]},{"tb":8,"tbk":1,"tl":1,"mb":8,"mbk":1,"gb":8,"gbk":1,"eb":8,"ebk":1,"fs":[1]}],"ftbl":[%s]}`, frames)
		l := ingest.OpenInput(t.Context(), source.FromBytes("heap.json", []byte(content)), ingest.Options{})
		if err := l.Wait(); err != nil {
			t.Fatal(err)
		}
		found, err := Of(t.Context(), l.Snapshot())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if f.Rule == "garbage" || f.Rule == "hot" {
				t.Errorf("%s: %s", name, f.Claim)
			}
		}
		l.Close()
	}
}
