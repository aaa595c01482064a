package command

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"ashlar/app/core/bundle"
	"ashlar/app/core/sourcefile"
	"ashlar/app/core/subcommand"
	"ashlar/app/core/view"
	"ashlar/ingest"
	"ashlar/ingest/model/recording"
)

func renderCommand() command {
	return own(subcommand.Command{
		Name: "render", Args: "FILE [FILE]|ADDRESS [FILE] -o OUT.png", Line: "draw one or two recordings into a PNG or SVG file",
		Text: `
The picture is exactly that of the window. It needs no display. An SVG file has
shapes, and its text is text. Panels about one function show the FUNCTION that
--function names. With two files, the first is the baseline.

` + viewsText + `
"Copy view address" in the window copies an ADDRESS. It describes the
whole view, so only -o, --view, --size, --scale, --theme and --colour can be
added. FILEs after it replace the files that it names.
` + viewHelp,
		Examples: [][2]string{
			{"ashlar render run.spaa -o run.png", "draw timeline and flamegraph"},
			{"ashlar render run.spaa -o part.png --view flame --range 1.2s..1.5s", "draw the flamegraph of 300 ms"},
			{"ashlar render run.spaa -o run.svg --view timeline", "draw an SVG, for a page or a report"},
			{"ashlar render run.spall -o parse.svg --view calls --function parse", "draw how long the calls of a function took"},
			{"ashlar render old.pprof new.pprof --view diff -o diff.png", "draw the differences between two files"},
			{"ashlar render --demo -o ashlar.png --size 2560x1440 --scale 2 --theme light", "draw for a high-resolution screen"},
		},
	}, func(fs *pflag.FlagSet) func(*call, []string) error {
		return new(renderFlags).add(fs)
	})
}

// renderFlags are the flags of render, as typed.
type renderFlags struct {
	o      RenderOptions
	ch     chooser
	only   partFlags
	size   string
	scale  float64
	ranges [2]string
	demo   *bool
	roots  func() ([]sourcefile.Root, error)
}

func (r *renderFlags) add(fs *pflag.FlagSet) func(*call, []string) error {
	o := &r.o
	fs.StringVarP(&o.Out, "output", "o", "", "write the picture to `FILE`, a .png or .svg")
	fs.StringVar(&o.View, "view", "both", "the `PART` to draw: "+list(Views)+"; with two files "+list(CompareViews)+" (default: compare)")
	fs.StringVarP(&o.Function, "function", "f", "", "mark this `FUNCTION`")
	fs.StringVar(&r.size, "size", "1280x720", "the picture's size in pixels, `WxH`")
	fs.Float64Var(&r.scale, "scale", 1, "draw everything `S` times as large")
	fs.StringVar(&r.ranges[0], "range", "", "only `START..END`, from the recording's start: 1.2s..1.5s; of a file larger than memory, only this part is read")
	r.only.threadFlag(fs)
	fs.StringVar(&r.ranges[1], "range-b", "", "with two files, only `START..END` of the second (default: the same as --range)")
	r.ch.flags(fs)
	fs.StringVar(&o.Theme, "theme", "dark", "dark, light or contrast `THEME`")
	view.AddFlags(fs, &o.State)
	o.State.AddTransformFlags(fs)
	r.demo = demoFlag(fs)
	cacheFlag(fs)
	r.roots = rootFlag(fs)
	subcommand.RedactFlag(fs)
	return func(c *call, args []string) error {
		o.Event, o.Metric, o.Demo, o.Exe = r.ch.event, r.ch.metric, *r.demo, c.exe
		o.State.Sides[1].Sort, o.State.Sides[1].Calls = o.State.Sides[0].Sort, o.State.Sides[0].Calls
		if err := r.files(c, fs, args); err != nil {
			return err
		}
		if err := o.shape(r.size, r.scale); err != nil {
			return err
		}
		if err := r.scope(); err != nil {
			return err
		}
		o.from(c)
		return c.run.Render(*o)
	}
}

// from sets where recordings are read from and where the picture goes.
func (o *RenderOptions) from(c *call) {
	o.Cache, o.Scratch, o.To = c.cache, c.scratch(), c.run.Picture
	o.Watch = func() { c.watch("the picture") }
	if c.run.Read != nil {
		o.Remarks = c.stderr
	}
	if c.redactor != nil {
		o.Roots = nil // source text cannot be redacted
	}
	o.Drawn = c.takeNote
	if c.redactor != nil || c.run.Read != nil {
		o.Read = func(path, exe string, part recording.Part) (*recording.Recording, ingest.Stats, error) {
			c.exe = exe
			return c.load(path, part)
		}
	}
}

// files sets the recordings to draw, or the address.
func (r *renderFlags) files(c *call, fs *pflag.FlagSet, args []string) (err error) {
	o := &r.o
	var given []string
	if len(args) > 1 && view.IsAddress(args[0]) {
		args, given = args[:1], args[1:]
	}
	if args, err = o.second(args, fs); err != nil {
		return err
	}
	if o.File, err = oneFile(args, o.Demo); err != nil {
		return err
	}
	if views := bundle.Views(c.at(o.File), o.File); len(views) > 0 && alone(fs, ofAddress...) == nil {
		o.File = views[0]
	}
	if !view.IsAddress(o.File) {
		return nil
	}
	parts := ""
	if fs.Changed("view") {
		parts = o.View
	}
	if err := alone(fs, ofAddress...); err != nil {
		return err
	}
	o.File, err = c.address(o.File, parts, given...)
	return err
}

// scope sets the ranges, threads and source folders.
func (r *renderFlags) scope() (err error) {
	o := &r.o
	if o.Ranges[0], err = rangeFlag(r.ranges[0]); err != nil {
		return err
	}
	if o.Part, err = r.only.part(); err != nil {
		return err
	}
	if o.Part.IsSet() && (o.With != "" || o.Demo) {
		return misuse("--thread needs exactly one file; with two files or the demo, select threads in the window")
	}
	if r.ranges[1] == "" && o.With != "" {
		r.ranges[1] = r.ranges[0]
	}
	if o.Ranges[1], err = rangeFlag(r.ranges[1]); err != nil {
		return err
	}
	o.Roots, err = r.roots()
	return err
}

// ofAddress are the flags allowed with an address.
var ofAddress = []string{"output", "view", "size", "scale", "theme", "colour", "source-root", "redact", "session"}

// second takes the second of two files and sets the view that compares them.
func (o *RenderOptions) second(args []string, fs *pflag.FlagSet) (rest []string, err error) {
	if len(args) != 2 {
		for _, f := range []string{"range-b", "normalize", "width", "layout"} {
			if fs.Changed(f) {
				return nil, misuse("--%s needs two files", f)
			}
		}
		return args, nil
	}
	switch {
	case o.Demo:
		return nil, misuse("--demo replaces the file; leave out %s", args[0])
	case args[1] == "" || args[0] == "":
		return nil, misuse("a file name is empty")
	case args[1] == "-" && args[0] == "-":
		return nil, misuse("standard input can be named only once")
	}
	if o.With = args[1]; !fs.Changed("view") {
		o.View = "compare"
	}
	return args[:1], nil
}

// rangeFlag parses --range; "" means no limit.
func rangeFlag(s string) (recording.Range, error) {
	if s == "" {
		return recording.Range{}, nil
	}
	r, err := recording.ParseRange(s)
	if err != nil {
		return r, &subcommand.Usage{Err: err}
	}
	return r, nil
}

// Views names the views of a recording, CompareViews those of two recordings; see
// SetPanels.
var Views, CompareViews []string

// viewsText lists the views for the help, with a description of each.
var viewsText string

// SetPanels sets the panels for one recording and for two: their names in addresses, and
// a description of each. A program must call it before any other function of this
// package.
func SetPanels(one, two [][2]string) {
	timeline := [2]string{"timeline", "the upper half"}
	one = append([][2]string{{"both", "timeline and flamegraph"}, timeline}, one...)
	two = append([][2]string{{"compare", "both timelines and the difference"}, timeline}, two...)
	var b strings.Builder
	Views, CompareViews = views(&b, "one file", one), views(&b, "two files", two)
	viewsText = b.String()
}

// views returns the --view names of panels and writes their lines of the help.
func views(help *strings.Builder, of string, panels [][2]string) (names []string) {
	fmt.Fprintf(help, "Views of %s:\n", of)
	for _, p := range panels {
		name := viewName(p[0])
		fmt.Fprintf(help, "  %-12s  %s\n", name, p[1])
		if names = append(names, name); name == "functions" { // one panel; its rows may also be modules, files or threads
			names = append(names, "modules", "files", "threads")
		}
	}
	return names
}

// viewName returns the --view name of a panel.
func viewName(panel string) string {
	switch panel {
	case "flamegraph":
		return "flame"
	case "difference":
		return "diff"
	}
	return panel
}

// list joins words with commas and "and".
func list(words []string) string {
	n := len(words) - 1
	return strings.Join(words[:n], ", ") + " and " + words[n]
}

// Limits of pictures, for software rendering and PNG readers.
const (
	mostPixels = 16384 // per side
	mostScale  = 8
)

// shape checks the flags about the picture's format, view and size.
func (o *RenderOptions) shape(size string, scale float64) error {
	switch {
	case o.Out == "":
		return misuse("name the output file with -o")
	case !strings.EqualFold(filepath.Ext(o.Out), ".png") && !strings.EqualFold(filepath.Ext(o.Out), ".svg"):
		return misuse("%s is not a PNG or SVG file; use the extension .png or .svg", o.Out)
	}
	here, there := Views, CompareViews
	if o.With != "" {
		here, there = there, here
	}
	switch {
	case slices.Contains(here, o.View):
	case slices.Contains(there, o.View) && o.With == "":
		return misuse("the view %s needs two files", o.View)
	case slices.Contains(there, o.View):
		return misuse("the view %s takes one file; for two files use %s", o.View, list(CompareViews))
	default:
		return misuse("unknown view %q; views: %s; for two files: %s", o.View, list(Views), list(CompareViews))
	}
	if err := checkTheme(o.Theme); err != nil {
		return err
	}
	w, h, _ := strings.Cut(size, "x")
	var werr, herr error
	o.Width, werr = strconv.Atoi(w)
	o.Height, herr = strconv.Atoi(h)
	if werr != nil || herr != nil || o.Width < 1 || o.Height < 1 || o.Width > mostPixels || o.Height > mostPixels {
		return misuse("the size %q is not WIDTHxHEIGHT in pixels, each from 1 to %d", size, mostPixels)
	}
	if math.IsNaN(scale) || scale < .25 || scale > mostScale {
		return misuse("the scale %v is not between 0.25 and %d", scale, mostScale)
	}
	o.Scale = float32(scale)
	return nil
}

// viewHelp is the help text for the flags of the view.
const viewHelp = `
A FUNCTION is a name as top prints it, NAME@MODULE, or a /regular expression/.
Flags that change stacks apply in the order in which they are typed. --where
filters by label: any that ashlar info lists for the stacks, or the pid, tid,
comm or cpu of a thread or sample.`
