package picture_test

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/app/command"
	"ashlar/app/command/picture"
)

// TestTrendAgrees checks that the window has the sentence, means and changes that ashlar
// trend prints, for runs with a change and for runs without one.
func TestTrendAgrees(t *testing.T) {
	for _, at := range []int{7, 12} {
		dir := t.TempDir()
		var files []string
		for i := range 12 {
			hash := 1000 + i*37%50
			if i >= at {
				hash += 500
			}
			f := filepath.Join(dir, fmt.Sprintf("run-%d.folded", i+1))
			if err := os.WriteFile(f, fmt.Appendf(nil, "main;hash %d\nmain;sort %d\n", hash, 2000+i*53%90), 0o600); err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		runner := command.Runner{Render: picture.Render}
		var said, errs bytes.Buffer
		if code := command.Main([]string{"trend", dir}, nil, &said, &errs, runner); code != command.Done {
			t.Fatal(errs.String())
		}
		out := filepath.Join(dir, "trend.svg")
		address := "ashlar:1?file=" + files[0] + "&runs=" + strings.Join(files[1:], ",") + "&tab=trend"
		if code := command.Main([]string{"render", address, "--size", "1500x900", "-o", out}, nil, io.Discard, &errs, runner); code != command.Done {
			t.Fatal(errs.String())
		}
		svg, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		drawn := html.UnescapeString(string(svg))
		lines := strings.Split(said.String(), "\n")
		if !strings.Contains(drawn, ">"+lines[1]+"<") {
			t.Errorf("the window does not say %q", lines[1])
		}
		for _, l := range lines[3:] {
			words := strings.Fields(strings.TrimLeft(l, "▁▂▃▄▅▆▇█"))
			switch {
			case strings.ContainsAny(l, "▁█"): // 5506  total
				if !strings.Contains(drawn, ">"+words[0]+"<") {
					t.Errorf("the window does not have the mean of %q", l)
				}
			case strings.Contains(l, " from "): // +11.6 % from …
				size, chance := words[0]+" "+words[1], strings.TrimSuffix(l[strings.Index(l, "(")+1:], ")")
				if !strings.Contains(drawn, ">"+size+"<") || !strings.Contains(drawn, ">"+chance+"<") {
					t.Errorf("the window does not have the change %q", l)
				}
			}
		}
	}
}
