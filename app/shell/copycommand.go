package shell

import (
	"strings"

	"ashlar/app/cli"
)

// asCommand is the command line that prints what the lower half shows. rest
// says what it cannot express; "" when it expresses all.
func (p *pane) asCommand() (line, rest string) {
	path := p.rec.Source.Path
	args := []string{"ashlar", "top", path}
	if p.demo {
		args[2] = "--demo"
	}
	if p.exe != "" {
		args = append(args, "--exe", p.exe)
	}
	if p.event < len(p.rec.Events) {
		e := &p.rec.Events[p.event]
		if len(p.rec.Events) > 1 && e.Name != "" {
			args = append(args, "--event", e.Name)
		}
		if p.metric != e.Primary {
			args = append(args, "--metric", p.metricOf().Name)
		}
	}
	if p.sel.ranged {
		r := cli.Range{From: p.sel.from - p.rec.Start, To: p.sel.to - p.rec.Start, HasFrom: true, HasTo: true}
		args = append(args, "--range", r.String())
	}
	v := cli.StackView{Transforms: p.transforms, Search: p.search.text}
	args = append(args, v.Flags(p.rec)...)
	if p.sel.tracks != nil {
		rest = "the selected threads"
	}
	for i, a := range args {
		args[i] = quoted(a)
	}
	return strings.Join(args, " "), rest
}

// quoted writes an argument as a shell wants it.
func quoted(a string) string {
	if a != "" && strings.Trim(a, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@%+,") == "" {
		return a
	}
	return "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
}

// copyCommand puts the command line on the clipboard.
func (s *Shell) copyCommand() {
	line, rest := s.pane.asCommand()
	if s.versus != nil {
		line, rest = s.versus.asCommand()
	}
	s.copyLater(line)
	if rest != "" {
		s.Say("Copied a command that says all but " + rest)
	}
}

// Look sets what is done to stacks and what is searched for, as the command
// line says it, and checks it against the recording.
func (s *Shell) Look(v cli.StackView) error {
	p := s.pane
	if err := v.Check(p.rec); err != nil {
		return err
	}
	if v.Transforms != nil {
		p.transforms = v.Transforms
	}
	if v.Search != "" {
		p.search.look(v.Search)
	}
	return nil
}
