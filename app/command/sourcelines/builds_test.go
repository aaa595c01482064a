package sourcelines_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/app/command"
	"ashlar/app/command/sourcelines"
	"ashlar/ingest/format/decode/decodetest"
)

// TestTwoBuilds plants a bounds check in the loop of a function and finds it by comparing the
// instructions of both builds.
func TestTwoBuilds(t *testing.T) {
	const loop = `
	for _, c := range b {
		h ^= uint32(c)
		h *= 16777619
		h ^= h >> 13
	}
	return h
}`
	mix := loop[:strings.Index(loop, "h ^= h >> 13")] + `h ^= table[h>>26] >> 13
	}
	return h
}
`
	body := spinning[strings.Index(spinning, "func mix"):]
	body = body[:strings.Index(body, "func main")]
	with := func(table string) string {
		return strings.Replace(spinning, body, "func mix(b []byte) (h uint32) {"+mix+"\nvar table "+table+"\n\n", 1)
	}
	var profiles []string
	for name, table := range map[string]string{"a": "[64]uint32", "b": "= make([]uint32, 64)"} {
		profile := filepath.Join(t.TempDir(), name+".pprof")
		run(t, decodetest.GoBuild(t, with(table), ""), profile)
		if profiles = append(profiles, profile); name == "a" && len(profiles) == 2 {
			profiles[0], profiles[1] = profiles[1], profiles[0]
		}
	}
	var s sourcelines.Source
	if refused := ask(t, &s, "source", profiles[0], "main.mix", "--asm", "--with", profiles[1], "--json"); refused != "" {
		t.Fatal(refused)
	}
	b := s.Builds
	if b == nil || b.Doubt != "" || b.Added == 0 || !strings.Contains(b.Loop, "gained a bounds check (") {
		t.Fatalf("%+v", b)
	}
	added := ""
	for _, r := range s.Rows {
		if r.AddressA == "" {
			added += r.TextB + "\n"
		}
	}
	if !strings.Contains(added, "cmp ") || !strings.Contains(added, "panic") && !strings.Contains(added, "jae ") && !strings.Contains(added, "jbe ") {
		t.Errorf("added are:\n%s", added)
	}
	var out, remarks bytes.Buffer
	if code := command.Main([]string{"source", profiles[0], "main.mix", "--asm", "--with", profiles[1], "-n", "0"}, nil, &out, &remarks, command.Runner{}); code != command.Done || !strings.Contains(out.String(), " + cmp ") {
		t.Errorf("%d %s\n%s", code, remarks.String(), out.String())
	}
	t.Log(out.String())
	for args, want := range map[string]string{"--with " + profiles[1]: "--with needs --asm", "--asm --exe x --with " + profiles[1]: "x"} {
		if refused := ask(t, &s, append([]string{"source", profiles[0], "main.mix"}, strings.Fields(args)...)...); !strings.Contains(refused, want) {
			t.Errorf("%s: %s", args, refused)
		}
	}
}
