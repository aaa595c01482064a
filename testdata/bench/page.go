//go:build linux

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
)

// The tables are between these lines of the page.
const (
	pageBegins  = "<!-- measured: make bench-page writes these tables -->\n"
	pageEnds    = "<!-- end of measured -->"
	largeBegins = "<!-- measured: rows large/ of make bench-page -->\n"
	largeEnds   = "<!-- end of rows large/ -->"
)

// readReports reads files written by -json as one report, in the order of rows. Of a row in
// several files, the results of the last count.
func readReports(paths []string, order []row) (*report, error) {
	var all *report
	for _, path := range paths {
		rep, err := readReport(path)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = rep
			continue
		}
		again := func(row string) bool {
			return slices.ContainsFunc(rep.Results, func(x result) bool { return x.Row == row }) ||
				slices.ContainsFunc(rep.Errors, func(text string) bool { return strings.HasPrefix(text, row+": ") })
		}
		all.Results = slices.DeleteFunc(all.Results, func(x result) bool { return again(x.Row) })
		all.Errors = slices.DeleteFunc(all.Errors, func(text string) bool {
			row, _, _ := strings.Cut(text, ": ")
			return again(row)
		})
		all.Results, all.Errors = append(all.Results, rep.Results...), append(all.Errors, rep.Errors...)
	}
	place := func(x result) int { return slices.IndexFunc(order, func(r row) bool { return r.name == x.Row }) }
	slices.SortStableFunc(all.Results, func(x, y result) int { return cmp.Compare(place(x), place(y)) })
	return all, nil
}

// readReport reads a file written by -json.
func readReport(path string) (*report, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	rep := &report{}
	if err := json.Unmarshal(b, rep); err != nil {
		return nil, fmt.Errorf("%s is not a report written by -json: %w", path, err)
	}
	for _, x := range rep.Results {
		if r := x.Reading; r != nil && (kindOf(r.Kind) == nil || r.Seconds <= 0) {
			return nil, fmt.Errorf("%s: %q has the unknown kind %q or no time", path, x.What, r.Kind)
		}
	}
	return rep, nil
}

// write replaces the text between the marks of a Markdown file. Tables without new
// measurements stay as they are.
func (rep *report) write(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	page := string(text)
	for i := range sections {
		s := &sections[i]
		head, rest, ok := strings.Cut(page, s.begins)
		_, tail, ok2 := strings.Cut(rest, s.ends)
		if !ok || !ok2 {
			return fmt.Errorf("%s lacks the lines\n%s%s\nthat enclose the tables", path, s.begins, s.ends)
		}
		p := rep.part(s)
		if len(p.Results)+len(p.Errors) == 0 {
			continue
		}
		var b strings.Builder
		s.text(p, &b)
		if len(p.Errors) > 0 {
			b.WriteString("\n**Not measured**, because of errors: " + cell(strings.Join(p.Errors, "; ")) + ".\n")
		}
		page = head + s.begins + b.String() + "\n" + s.ends + tail
	}
	return os.WriteFile(path, []byte(page), 0o644)
}

// page writes the overview and the tables of all rows.
func (rep *report) page(b *strings.Builder) {
	size := ""
	if rep.Quick {
		size = "**Recordings of a fiftieth of their size, to try the program: these figures say nothing.** "
	}
	fmt.Fprintf(b, "\n%sMeasured on %s on %s, with a load of %.1f before the start; other programs used %s of the machine. The whole program from start until everything is loaded, without a cache; the best of %s runs. **Missed targets are bold.**\n",
		size, rep.When.Format("2006-01-02"), rep.Machine, rep.Machine.Load, rep.others(), rep.times())
	rep.overview(b)
	b.WriteString("\n*Met* is the speed as a multiple of the target; *CPUs* the average number of busy cores, and the share of their time that the kernel takes (target: a tenth); *memory* the peak without the mapped file; *beside* the time of json.Valid, of decompression alone, or of the format's own library; *picture* the time to the window's first picture and the longest wait for the next, on software GL with a warm shader cache. Without that cache the first picture takes 0.2 to 0.4 s more.\n")
	for _, k := range kinds {
		rep.readings(b, k)
	}
	rep.rest(b)
	rep.peers(b)
}

// others returns the share of CPU time that other programs used: the median and the
// maximum.
func (rep *report) others() string {
	var all []float64
	for _, x := range rep.Results {
		if len(x.Runs) > 0 {
			all = append(all, x.Runs[0].Others)
		}
	}
	if len(all) == 0 {
		return "an unknown share"
	}
	slices.Sort(all)
	return fmt.Sprintf("%.0f %% on average and %.0f %% at most", 100*all[len(all)/2], 100*all[len(all)-1])
}

// times returns the number of runs per row.
func (rep *report) times() string {
	least, most := math.MaxInt, 0
	for _, x := range rep.Results {
		if x.Reading != nil {
			least, most = min(least, len(x.Runs)), max(most, len(x.Runs))
		}
	}
	if least < most {
		return fmt.Sprintf("%d to %d", least, most)
	}
	return fmt.Sprint(most)
}

// missed makes a missed target bold.
func missed(text string, is bool) string {
	if is {
		return "**" + text + "**"
	}
	return text
}

// cell escapes text for a table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "*", `\*`, "<", `\<`, "_", `\_`).Replace(s)
}

func (rep *report) readings(b *strings.Builder, k *kind) {
	var all []*reading
	for _, x := range rep.Results {
		if x.Reading != nil && x.Reading.Kind == k.name {
			all = append(all, x.Reading)
		}
	}
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\nTarget: %s", k.title, k.target)
	if k.name != "file" {
		fmt.Fprintf(b, " First picture within %.0f ms, then one every %d ms.", k.picture, longest)
	}
	if slices.ContainsFunc(all, func(r *reading) bool { return r.Rich }) {
		b.WriteString(" Half that speed for recordings with nearly as many call paths as spans or samples.")
	}
	b.WriteString("\n\n| recording | size | time | speed (per s) | met | CPUs | memory | beside | picture |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	not := map[string]int{} // number of readings that miss each target
	for _, r := range all {
		b.WriteString(r.line())
		for _, what := range r.missed() {
			not[what]++
		}
	}
	if k.name == "chrome" {
		best := slices.MaxFunc(all, func(x, y *reading) int { return cmp.Compare(x.bytesRate(), y.bytesRate()) })
		fmt.Fprintf(b, "\nThe best shape is %s, at %s of its target of 800 MB/s.\n", cell(best.What),
			missed(fmt.Sprintf("%.2f", best.bytesRate()/bestBytes), best.bytesRate() < bestBytes))
	}
	for _, m := range []struct{ what, name string }{
		{"speed", "Speed"}, {besideValid, "Half the time of json.Valid"}, {"kernel", "Kernel time"}, {"memory", "Memory"}, {"picture", "First picture"}, {"pictures", "Later pictures"},
	} {
		if n := not[m.what]; n > 0 {
			fmt.Fprintf(b, "\n%s: missed in %d of %d. %s\n", m.name, n, len(all), cmp.Or(k.bounds[m.what], everyKind[m.what], unexplained))
		}
	}
}

// unexplained is printed for misses without a measured reason.
const unexplained = "The reason has not been investigated."

func (r *reading) line() string {
	not := r.missed()
	met := ""
	if s := r.met(); s > 0 {
		met = missed(fmt.Sprintf("%.2f", s), slices.Contains(not, "speed"))
	}
	rate := fmt.Sprintf("%.1f M", r.rate()/mega)
	if r.rate() < 1e5 {
		rate = fmt.Sprintf("%.0f", r.rate())
	}
	rate += fmt.Sprintf(", %.0f MB", r.bytesRate()/mega)
	holds := fmt.Sprintf("%.2f M %s", float64(r.Count)/mega, r.Unit)
	if r.Count < 1e5 {
		holds = fmt.Sprintf("%d %s", r.Count, r.Unit)
	}
	beside := ""
	if r.Beside != "" {
		beside = missed(seconds(r.BesideSeconds), slices.Contains(not, r.Beside))
	}
	pictures := ""
	if p := r.Picture; p.All > 0 {
		pictures = missed(fmt.Sprintf("%.0f", p.First), slices.Contains(not, "picture")) + ", " + missed(fmt.Sprintf("%.0f ms", p.Gap), slices.Contains(not, "pictures"))
	}
	return fmt.Sprintf("| %s | %s, %s | %s | %s | %s | %.1f, %s | %s | %s | %s |\n", cell(r.What), size(r.Bytes), holds, seconds(r.Seconds), rate, met,
		r.CPU/r.Seconds, missed(fmt.Sprintf("%.0f %%", 100*r.kernel()), slices.Contains(not, "kernel")), missed(size(r.Own), slices.Contains(not, "memory")), beside, pictures)
}

// rest writes the rows that are not readings of a file.
func (rep *report) rest(b *strings.Builder) {
	var told []string
	head := "\n## All other targets\n\n| test | target | measured | met |\n|---|---|---|---|\n"
	for _, x := range rep.Results {
		if x.Reading != nil || x.Peer != nil {
			continue
		}
		note := ""
		if x.Note != "" {
			note = " (" + cell(x.Note) + ")"
		}
		met := ""
		if x.Target != "" {
			met = "yes"
			if !x.Pass {
				met = "**no**"
			}
		}
		fmt.Fprintf(b, "%s| %s | %s | %s%s | %s |\n", head, cell(x.What), cell(x.Target), missed(cell(x.Measured), met == "**no**"), note, met)
		head = ""
	}
	for _, x := range rep.Results {
		if x.Reading == nil && x.Peer == nil && x.Target != "" && !x.Pass && !slices.Contains(told, x.Row) {
			told = append(told, x.Row)
			fmt.Fprintf(b, "\nMissed in *%s*: %s\n", cell(x.Row), cmp.Or(bounds[x.Row], unexplained))
		}
	}
}

// peers writes a table of programs by files.
func (rep *report) peers(b *strings.Builder) {
	var programs, files []string
	took := map[[2]string]string{}
	for _, x := range rep.Results {
		p := x.Peer
		if p == nil {
			continue
		}
		if !slices.Contains(programs, p.Program) {
			programs = append(programs, p.Program)
		}
		if !slices.Contains(files, p.File) {
			files = append(files, p.File)
		}
		took[[2]string{p.Program, p.File}] = seconds(p.Seconds) + " | " + size(p.Own)
		if p.Failed {
			took[[2]string{p.Program, p.File}] = "none |"
		}
	}
	if len(programs) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## Other programs\n\nTime and memory until the answer, measured in the same session. *none*: no answer within %.0f minutes, or the program failed.\n\n| recording | program | time | memory |\n|---|---|--:|--:|\n", peerPatience.Minutes())
	for _, f := range files {
		name := cell(f)
		for _, p := range programs {
			if c, ok := took[[2]string{p, f}]; ok {
				fmt.Fprintf(b, "| %s | %s | %s |\n", name, cell(p), c)
				name = ""
			}
		}
	}
	b.WriteString("\nNot comparable in every respect: the time of speedscope excludes the start of its browser, its memory includes the browser, and only speedscope draws a picture.\n")
}

func seconds(s float64) string {
	if s < 10 {
		return fmt.Sprintf("%.2f s", s)
	}
	return fmt.Sprintf("%.0f s", s)
}

func size(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.2f GB", float64(n)/1e9)
	case n >= 1e7:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	default:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
}
