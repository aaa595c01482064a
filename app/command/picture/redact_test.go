package picture_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"ashlar/app/command"
	"ashlar/app/command/picture"
)

// TestRedacted checks that no picture shows where a redacted recording comes from.
func TestRedacted(t *testing.T) {
	dir := t.TempDir()
	file, out := filepath.Join(dir, "run.json"), filepath.Join(dir, "out.svg")
	const trace = `[{"name":"process_name","ph":"M","pid":1,"args":{"name":"/home/jane/acme/bin/shop --token=hunter22"}},
{"name":"thread_name","ph":"M","pid":1,"tid":1,"args":{"name":"worker db7.acme.internal"}},
{"name":"load https://shop.acme.com/cart/jane","ph":"X","pid":1,"tid":1,"ts":0,"dur":100,"args":{"user":"jane.doe"}},
{"name":"render (https://cdn.acme.com/js/cart.js:12:7)","ph":"X","pid":1,"tid":1,"ts":10,"dur":50,"args":{"file":"/home/jane/cart.tmpl"}}]`
	if err := os.WriteFile(file, []byte(trace), 0o644); err != nil {
		t.Fatal(err)
	}
	secret := regexp.MustCompile(`acme|jane|hunter22`)
	runner := command.Runner{Render: picture.Render}
	draw := func(args ...string) []byte {
		t.Helper()
		var said bytes.Buffer
		if code := command.Main(append([]string{"render", "-o", out, "--size", "900x500"}, args...), nil, &said, &said, runner); code != command.Done {
			t.Fatalf("%v: %s", args, said.String())
		}
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if !secret.Match(draw(file)) {
		t.Error("the picture of all shows nothing to leave out")
	}
	for _, args := range [][]string{{file}, {file, "--view", "timeline"}, {file, "--view", "functions"}, {file, "--view", "about"}, {file, file}, {"ashlar:1?file=" + file + "&tab=calltree"}} {
		b := draw(append(args, "--redact")...)
		if s := secret.Find(b); s != nil || !bytes.Contains(b, []byte("load")) && args[len(args)-1] != "about" {
			t.Errorf("%v: the picture has %q: %s", args, s, b)
		}
	}
}
