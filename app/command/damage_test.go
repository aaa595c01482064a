package command

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/app/core/evidence"
)

const damageHead = `{"type":"header","format":"spaa","version":"1.0","source_tool":"perf","frame_order":"leaf_to_root","events":[{"name":"cycles","kind":"hardware","sampling":{"mode":"period","primary_metric":"period"}}],"time_range":{"start":0,"end":10,"unit":"seconds"},"stack_id_mode":"local"}
`

func damageStack(id, frames, event, more string) string {
	return `{"type":"stack","id":"` + id + `","frames":[` + frames + `],` + more + `"context":{"event":"` + event + `"},"weights":[{"metric":"samples","value":1},{"metric":"period","value":50}]}` + "\n"
}

const damageDict = `{"type":"dso","id":1,"name":"/bin/app","is_kernel":false}
{"type":"frame","id":1,"func":"main","dso":1,"kind":"user"}
{"type":"frame","id":2,"func":"work","dso":1,"kind":"user"}
`

func written(t *testing.T, name, data string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAnswersSayDamage checks that every answer from a damaged recording mentions it: text by
// a line on standard error, JSON by the field damage.
func TestAnswersSayDamage(t *testing.T) {
	late := damageHead + damageStack("a", "2,1", "cycles", "") + damageDict
	sound := damageHead + damageDict + damageStack("a", "2,1", "cycles", "")
	unknown := damageHead + damageDict + damageStack("a", "2,1", "nope", "")
	for name, c := range map[string]struct {
		data          string
		errors, weigh int64
		line          string
	}{
		"late.spaa":    {late, 2, 0, "has 2 errors, none of which changes a number: frame 1 is defined after a stack that refers to it; it is used anyway (line "},
		"unknown.spaa": {unknown, 1, 1, `has 1 error that may affect this answer: event "nope" is not in the header; it is shown anyway (line 5); ashlar check`},
		"bad.folded":   {"main;work 5\nno stack at all\nmain 2\n", 1, 1, "has 1 error that may affect this answer: Line 2 "},
		"kind.spaa":    {strings.Replace(sound, `"kind":"user"`, `"kind":"ghost"`, 1), 1, 0, "has 1 error, which changes no number: "},
		"index.json": {`{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"a"}]},"profiles":[{"type":"sampled","name":"n","unit":"none","startValue":0,"endValue":2,"samples":[[0],[5]],"weights":[1,1]}]}`, 1, 1,
			"has 1 error that may affect this answer: A stack refers to frame 5, but the file has only 1 frame; its number is shown; ashlar check"},
		"sums.spaa": {sound + `{"type":"sample","stack_id":"a","timestamp":1,"pid":7,"tid":8,"event":"cycles","period":5000}` + "\n", 1, 1,
			`the samples of the stack with leaf "work" add up to 5000, its stack records only to 50; ashlar check`},
		"overlap.json": {`[{"name":"a","ph":"X","ts":0,"dur":10,"pid":1,"tid":1},{"name":"b","ph":"X","ts":5,"dur":10,"pid":1,"tid":1}]`, 0, 1,
			"overlap.json: Spans of a thread partly overlap: sums count 5 µs more than once; ashlar check"},
		"longer.json": {`[{"name":"a","ph":"X","ts":0.4,"dur":8000,"pid":1,"tid":1},{"name":"b","ph":"X","ts":0.6,"dur":7999.9,"pid":1,"tid":1}]`, 0, 1,
			"longer.json: Spans end up to 100 ns after their parent span. They are shown as ending with it: sums lack up to 100 ns; ashlar check"},
		"async.json": {`[{"name":"a","ph":"b","id":1,"cat":"c","ts":0,"pid":1},{"name":"a","ph":"e","id":1,"cat":"c","ts":100,"pid":1},` +
			`{"name":"b","ph":"b","id":1,"cat":"c","ts":10,"pid":1},{"name":"b","ph":"e","id":1,"cat":"c","ts":40,"pid":1},` +
			`{"name":"d","ph":"b","id":1,"cat":"c","ts":30,"pid":1},{"name":"d","ph":"e","id":1,"cat":"c","ts":60,"pid":1}]`, 0, 1,
			"async.json: Spans inside another span overlap each other: sums of async spans count 30 µs more than once; ashlar check"},
		"beside.json": {`[{"name":"a","ph":"b","id":1,"cat":"c","ts":0,"pid":1},{"name":"a","ph":"e","id":1,"cat":"c","ts":100,"pid":1},` +
			`{"name":"b","ph":"b","id":1,"cat":"c","ts":10,"pid":1},{"name":"b","ph":"e","id":1,"cat":"c","ts":40,"pid":1},` +
			`{"name":"d","ph":"b","id":1,"cat":"c","ts":30,"pid":1},{"name":"d","ph":"e","id":1,"cat":"c","ts":60,"pid":1},` +
			`{"name":"work","ph":"X","ts":0,"dur":10,"pid":1,"tid":1}]`, 0, 0, ""},
		"infinite.json": {`[{"name":"a","ph":"X","ts":0,"dur":10,"pid":1,"tid":1},{"name":"b","ph":"X","ts":20,"dur":Infinity,"pid":1,"tid":1}]`, 1, 1,
			"infinite.json has 1 error that may affect this answer: A complete event (X) has a duration (dur) that is not a number; it is shown as unfinished"},
		"period.spaa": {sound + `{"type":"sample","stack_id":"a","timestamp":1,"event":"cycles","period":30}` + "\n" + `{"type":"sample","stack_id":"a","timestamp":2,"event":"cycles"}` + "\n", 1, 2,
			`1 of 2 samples of event "cycles" carry no period and count as 0 in the metric "period" of a range; to count all, use the metric samples (line 7)`},
		"thread.spaa": {sound + `{"type":"stack","id":"t","frames":[1],"context":{"event":"cycles","tid":8},"weights":[{"metric":"period","value":1}]}` + "\n" + `{"type":"thread","pid":7,"tid":8}` + "\n", 1, 0, "has 1 error, which changes no number: "},
		"inlined.spaa": {damageHead + damageDict + `{"type":"frame","id":3,"func":"in","dso":1,"ip":"0x5","kind":"user","inlined":true,"inline_depth":1}
{"type":"frame","id":4,"func":"out","dso":1,"ip":"0x5","kind":"user","inline_depth":0}
` + damageStack("a", "4,3,1", "cycles", ""), 1, 1, "has 1 error that may affect this answer: a physical frame is called by a frame of inline depth 1 at the same address (line 7); ashlar check"},
		"kernel.spaa": {strings.Replace(sound, `"/bin/app"`, `"[kernel.kallsyms]"`, 1), 1, 1, `has 1 error that may affect this answer: dso "[kernel.kallsyms]" is a kernel image, but is_kernel is not true (line 2); ashlar check`},
		"tid.spaa":    {sound + `{"type":"thread","pid":7,"tid":8}` + "\n" + `{"type":"thread","pid":9,"tid":8}` + "\n", 1, 0, "has 1 error, which changes no number: "},
		"units.spaa": {damageHead + damageDict + strings.Replace(damageStack("a", "2,1", "cycles", ""), `"value":50`, `"value":50,"unit":"kB"`, 1) + strings.Replace(damageStack("b", "1", "cycles", ""), `"value":50`, `"value":50,"unit":"MB"`, 1), 0, 1,
			`units.spaa: metric "period" has two units; the first one is used (line 6); ashlar check`},
		"before.spaa": {strings.Replace(sound, `"start":0,"end":10`, `"start":100,"end":110`, 1) + `{"type":"sample","timestamp":99.5,"pid":7,"tid":8,"event":"cycles","period":30,"stack_id":"a"}` + "\n", 0, 1,
			`before.spaa: the first sample is 500 ms before the start of the header's time range; times and ranges count from that sample (line 6); ashlar check`},
		"sound.spaa": {sound, 0, 0, ""},
	} {
		path := written(t, name, c.data)
		for _, args := range [][]string{{"top", path}, {"overview", path}, {"info", path}, {"findings", path}, {"diff", path, path}, {"source", path, "work"}, {"stats", path}} {
			r := run(args...)
			said := strings.Count(r.stderr, "; ashlar check ")
			switch {
			case args[0] == "stats" || args[0] == "source":
				continue // these may have nothing to answer
			case c.line == "" && said > 0, c.line != "" && (said != 1 || !strings.Contains(r.stderr, c.line)):
				t.Errorf("%s: %q", strings.Join(args[:1], " ")+" "+name, r.stderr)
			}
			r = run(append(args, "--json")...)
			var v struct{ Damage []evidence.Damage }
			if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
				t.Fatal(err, r.stderr)
			}
			if strings.Contains(r.stderr, "affect this answer") {
				t.Errorf("%s --json says it beside the member: %s", args[0], r.stderr)
			}
			if c.line == "" {
				if len(v.Damage) > 0 {
					t.Errorf("%s --json of a sound file: %+v", args[0], v.Damage)
				}
				continue
			}
			if len(v.Damage) != 1 || v.Damage[0].Errors != c.errors || v.Damage[0].File != path || !strings.Contains(v.Damage[0].Check, "ashlar check ") {
				t.Errorf("%s %s --json: %+v", args[0], name, v.Damage)
				continue
			}
			var weigh int64
			for _, k := range v.Damage[0].Weighing {
				weigh += k.Count
			}
			if weigh != c.weigh {
				t.Errorf("%s %s --json: %d errors weigh, want %d", args[0], name, weigh, c.weigh)
			}
		}
	}
	// check finds as many errors.
	for name, data := range map[string]string{"a.spaa": late, "b.spaa": unknown, "c.spaa": sound + `{"type":"sample","stack_id":"zz"}` + "\n", "d.spaa": strings.Replace(sound, `"value":50`, `"value":18446744073709551615`, 1)} {
		path := written(t, name, data)
		var checked struct{ Errors int64 }
		var top struct{ Damage []evidence.Damage }
		if err := errors.Join(json.Unmarshal([]byte(run("check", path, "--json").stdout), &checked), json.Unmarshal([]byte(run("top", path, "--json").stdout), &top)); err != nil {
			t.Fatal(err)
		}
		if len(top.Damage) != 1 || top.Damage[0].Errors != checked.Errors {
			t.Errorf("%s: check finds %d errors, top %+v", name, checked.Errors, top.Damage)
		}
	}
	// Frames defined after the stacks that use them still have names, and an undeclared event
	// still has a total.
	if r := run("top", written(t, "late.spaa", late)); !strings.Contains(r.stdout, "work") || strings.Contains(r.stdout, "missing") {
		t.Error(r.stdout)
	}
	if r := run("top", written(t, "unknown.spaa", unknown)); !strings.Contains(r.stdout, "period of nope") || !strings.Contains(r.stdout, "total 50") {
		t.Error(r.stdout)
	}
}

// TestPairsCountOnce checks that a user stack and its kernel stack count as one sample.
func TestPairsCountOnce(t *testing.T) {
	path := written(t, "pair.spaa", damageHead+damageDict+
		damageStack("u", "2,1", "cycles", `"stack_type":"user","related_stacks":["k"],`)+damageStack("k", "2", "cycles", `"stack_type":"kernel","related_stacks":["u"],`))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"top", path}, "total 50"}, {[]string{"top", path, "--split-related"}, "total 100"}, {[]string{"info", path}, "50"},
	} {
		if r := run(c.args...); !strings.Contains(r.stdout, c.want) {
			t.Errorf("%s: %s%s", c.args, r.stdout, r.stderr)
		}
	}
	out := filepath.Join(t.TempDir(), "pair.folded")
	if r := run("convert", path, out); r.code != Done {
		t.Fatal(r.stderr)
	}
	if b, _ := os.ReadFile(out); string(b) != "main;work;work 50\n" {
		t.Errorf("%q", b)
	}
}

// TestSaturatedIsFlagged checks that JSON flags sums that exceed 64 bits.
func TestSaturatedIsFlagged(t *testing.T) {
	big := strings.ReplaceAll(damageStack("a", "2,1", "cycles", ""), `"value":50`, `"value":9000000000000000000`)
	path := written(t, "big.spaa", damageHead+damageDict+big+strings.Replace(big, `"a"`, `"b"`, 1))
	for _, command := range []string{"top", "info", "overview"} {
		var v struct{ Saturated []string }
		if err := json.Unmarshal([]byte(run(command, path, "--json").stdout), &v); err != nil || len(v.Saturated) != 1 || v.Saturated[0] != "cycles/period" {
			t.Errorf("%s: %v %v", command, v, err)
		}
	}
}

// TestRangesSayWhatTheyLack checks the notes for ranges: which windows were not counted
// because they overlap others, and which metric has times if the selected one has none.
func TestRangesSayWhatTheyLack(t *testing.T) {
	window := func(id, start, end string) string {
		return `{"type":"window","id":"` + id + `","start":` + start + `,"end":` + end + `,"by_stack":[{"stack_id":"a","weights":[{"metric":"period","value":10}]}]}` + "\n"
	}
	stack := damageStack("a", "2,1", "cycles", "")
	path := written(t, "windows.spaa", damageHead+damageDict+stack+window("w0", "0", "2")+window("w1", "1", "3")+window("w2", "2", "4")+window("w3", "8", "9"))
	r := run("top", path, "--range", "0s..4s")
	if !strings.Contains(r.stdout, "left out because they overlap others: window w1\n") {
		t.Error(r.stdout)
	}
	var v struct {
		Left []string `json:"windows_left_out"`
	}
	if err := json.Unmarshal([]byte(run("top", path, "--range", "0s..4s", "--json").stdout), &v); err != nil || len(v.Left) != 1 || v.Left[0] != "w1" {
		t.Error(v, err)
	}
	if r := run("diff", path, path, "--range-a", "0s..4s", "--range-b", "8s..9s"); !strings.Contains(r.stderr, "windows left out because they overlap others: window w1\n") {
		t.Error(r.stderr)
	}
	v.Left = nil
	if err := json.Unmarshal([]byte(run("diff", path, path, "--range-a", "0s..4s", "--range-b", "8s..9s", "--json").stdout), &v); err != nil || len(v.Left) != 1 || v.Left[0] != "w1" {
		t.Error(v, err)
	}
	path = written(t, "samples.spaa", damageHead+damageDict+stack+`{"type":"sample","timestamp":1,"event":"cycles","stack_id":"a"}`+"\n")
	if r := run("top", path, "--range", "0s..4s"); !strings.Contains(r.stderr, "it has 1 sample with times, but without values of this metric; try --metric samples") {
		t.Error(r.stderr)
	}
}

// TestConvertKeepsIncompleteRecords checks that records without a required key are copied.
func TestConvertKeepsIncompleteRecords(t *testing.T) {
	frame := `{"type":"frame","id":3,"func":"alone","kind":"user","x_note":7}` + "\n"
	path := written(t, "in.spaa", damageHead+damageDict+frame+damageStack("a", "3,1", "cycles", ""))
	out := filepath.Join(t.TempDir(), "out.spaa")
	if r := run("convert", path, out); r.code != Done || strings.Contains(r.stdout, "Not converted") {
		t.Fatal(r.stdout, r.stderr)
	}
	if text, err := os.ReadFile(out); err != nil || !strings.Contains(string(text), frame) {
		t.Errorf("%v: %s", err, text)
	}
	if r := run("top", out); !strings.Contains(r.stdout, "alone") {
		t.Error(r.stdout, r.stderr)
	}
}
