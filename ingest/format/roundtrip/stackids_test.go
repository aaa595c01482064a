package roundtrip

import (
	"testing"

	"ashlar/ingest/format/encode"
)

// TestStackIDsTellFramesApart checks that stacks get different ids if a frame differs only
// in its line, address or inlining depth, and that ids are the same each time a recording
// is written.
func TestStackIDsTellFramesApart(t *testing.T) {
	const lines = `{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"children":[2,3]},` +
		`{"id":2,"callFrame":{"functionName":"f","scriptId":"1","url":"a.js","lineNumber":4,"columnNumber":1}},` +
		`{"id":3,"callFrame":{"functionName":"f","scriptId":"1","url":"a.js","lineNumber":9,"columnNumber":1}}],` +
		`"startTime":0,"endTime":4000,"samples":[2,3,2,3],"timeDeltas":[0,1000,1000,1000]}`
	const addresses = "a 1/1 1.0: 1 c: \n\t401000 f (/bin/a)\n\na 1/1 1.5: 1 c: \n\t401010 f (/bin/a)\n\na 1/1 1.6: 1 c: \n\t401010 f (inlined)\n\t401010 f (/bin/a)\n\n"
	for name, text := range map[string]string{"in.cpuprofile": lines, "in.perf": addresses} {
		rec := load(t, name, []byte(text))
		out, _ := write(t, rec, "out.spaa", encode.Options{})
		r := checkSPAA(t, out)
		if n := r.Counts["stack-id-ambiguous"]; n > 0 {
			t.Errorf("%s: %d ids are ambiguous:\n%s", name, n, out)
		}
		again, _ := write(t, load(t, name, []byte(text)), "out.spaa", encode.Options{})
		if string(out) != string(again) {
			t.Errorf("%s: a second time, other ids", name)
		}
	}
}
