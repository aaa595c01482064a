package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"ashlar/app/agent/findings"
	"ashlar/app/agent/overview"
	"ashlar/app/command"
)

// plantedPath is the folder of the recordings of real programs, relative to the module's
// root. Its causes.tsv says what was planted in each.
const plantedPath = "testdata/eval/planted"

// planted is a recording of a real program, with or without a planted cause.
type planted struct {
	path string
	// half is the part of the recordings, see the manual: from 1, which was used to write the
	// first rules, to 6r and 6u.
	half string
	// answered is the expected answer, see answer.String.
	answered string
	// says matches a text that names the cause; nil if nothing was planted.
	says *regexp.Regexp
}

// readPlanted lists the recordings in a folder.
func readPlanted(dir string) (all []planted, err error) {
	f, err := os.Open(filepath.Join(dir, "causes.tsv"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes = '\t', true
	rows, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	for _, row := range rows[1:] {
		p := planted{path: filepath.Join(dir, "recordings", row[0]), half: row[1], answered: row[2]}
		if row[3] != "" {
			if p.says, err = regexp.Compile(row[3]); err != nil {
				return nil, err
			}
		}
		all = append(all, p)
	}
	return all, nil
}

// answer is the result for a recording. first is set if overview named the cause, third if
// overview or its first two commands did. unusual is set if overview said that something is
// unusual, as a cause if it named it so. tokens counts the output of all three.
type answer struct {
	first, third   bool
	unusual, cause bool
	tokens         int
	found          []findings.Finding
	planted        bool
}

// String returns overview, commands or no for a planted cause. Else it returns nothing if there
// are no findings, calm if all of them are costs, and alarm if any is unusual.
func (a *answer) String() string {
	switch {
	case a.planted && a.first:
		return "overview"
	case a.planted && a.third:
		return "commands"
	case a.planted:
		return "no"
	case a.unusual:
		return "alarm"
	case len(a.found) > 0:
		return "calm"
	}
	return "nothing"
}

// ask runs overview and the commands of its first two findings or, without findings, the
// first two commands that it suggests.
func (p *planted) ask() (a answer, err error) {
	a.planted = p.says != nil
	said := 0
	run := func(args ...string) []byte {
		var out, errs bytes.Buffer
		if code := command.Main(args, bytes.NewReader(nil), &out, &errs, command.Runner{}); code != command.Done && err == nil {
			err = fmt.Errorf("%v: %s", args, errs.String())
		}
		return out.Bytes()
	}
	said += len(run("overview", p.path))
	var o overview.Overview
	if b := run("overview", p.path, "--json"); err == nil {
		err = json.Unmarshal(b, &o)
	}
	if err != nil {
		return a, err
	}
	a.unusual = len(o.Unusual) > 0
	a.found = append(o.Unusual, o.Costs...)
	if p.says == nil {
		a.tokens = tokens(strings.Repeat(" ", said), "\x00")
		return a, nil
	}
	var asked []string
	for _, f := range a.found {
		if p.says.MatchString(f.Claim) {
			a.first, a.cause = true, a.cause || f.Kind == findings.Unusual
		}
		asked = append(asked, f.Command)
	}
	for _, n := range o.Next {
		asked = append(asked, n.Command)
	}
	a.third = a.first
	for _, c := range asked[:min(2, len(asked))] {
		out := run(append(words(c)[1:], "--budget", "1500")...)
		said += len(out)
		a.third = a.third || p.says.Match(out)
	}
	a.tokens = tokens(strings.Repeat(" ", said), "\x00")
	return a, err
}

// askPlanted prints how the recordings of a half are answered, of both if half is empty.
func askPlanted(half string) error {
	all, err := readPlanted(plantedPath)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(p planted) bool { return half != "" && p.half != half })
	var causes, first, third, cause, sick, nothing, without, calm, most int
	for i := range all {
		p := &all[i]
		a, err := p.ask()
		fmt.Printf("%s %-8s %5d %s\n", p.half, a.String(), a.tokens, filepath.Base(p.path))
		if err != nil {
			fmt.Printf("      %v\n", err)
		}
		if !a.first {
			for _, f := range a.found {
				fmt.Printf("      %s (%s): %s\n", f.Rule, f.Kind, f.Claim)
			}
		}
		most = max(most, a.tokens)
		count := func(n *int, is bool) {
			if is {
				*n++
			}
		}
		count(&causes, a.planted)
		count(&first, a.planted && a.first)
		count(&third, a.planted && a.third)
		count(&cause, a.planted && a.cause)
		count(&sick, a.planted && !a.unusual)
		count(&nothing, !a.planted)
		count(&without, !a.planted && len(a.found) == 0)
		count(&calm, !a.planted && !a.unusual)
	}
	fmt.Printf("overview alone names %d of %d causes, %d of these as unusual and the others as costs; three commands name %d\n", first, causes, cause, third)
	fmt.Printf("of %d recordings with a cause, overview says of %d that nothing is unusual\n", causes, sick)
	fmt.Printf("of %d recordings of nothing, %d have no unusual finding (calm), and %d of these have no finding at all: costs do not count, as healthy programs have them, too\n", nothing, calm, without)
	fmt.Printf("at most %d tokens\n", most)
	return nil
}
