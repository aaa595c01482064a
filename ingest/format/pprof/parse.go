package pprof

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/google/pprof/profile"
	"google.golang.org/protobuf/encoding/protowire"

	"ashlar/ingest/input/memory"
	"ashlar/ingest/model/recording"
)

var errSeveral = errors.New("the file holds several profiles one after the other; join them with `go tool pprof -proto` or open them one by one")

// read reads a profile except its samples, which are read when they are used.
func read(content []byte, b *recording.Builder) (*profile.Profile, *samples, error) {
	switch {
	case len(content) == 0:
		return nil, nil, errors.New("the profile is empty")
	case legacy(content):
		if several(content) {
			return nil, nil, errSeveral
		}
		p, err := guarded(func() (*profile.Profile, error) { return profile.ParseData(content) })
		if err != nil {
			return nil, nil, fmt.Errorf("the profile in a legacy format cannot be read: %v", bare(err))
		}
		nameByComments(content, p)
		return p, librarySamples(p), nil
	}
	f := split(content)
	if err := memory.Need(f.objects, "the profile"); err != nil {
		return nil, nil, err
	}
	p, err := tables(giveIDs(f.rest, b), &f, b)
	if err != nil {
		return nil, nil, err
	}
	f.samples.find(p.Location)
	f.samples.fields = f.count
	return p, &f.samples, nil
}

// librarySamples returns the samples that the library has read.
func librarySamples(p *profile.Profile) *samples {
	s := &samples{all: p.Sample, count: len(p.Sample)}
	s.find(p.Location)
	return s
}

// fields holds the top-level fields of a profile: samples apart from the rest.
type fields struct {
	content []byte
	count   int
	samples samples
	rest    []byte // all but the samples
	shifts  []shift
	// objects is an estimate of the maximum number of bytes that the library allocates to
	// parse the rest, which cannot be interrupted.
	objects int64
}

// shift maps offset rest in the rest of a profile to offset content in the file, and
// offsets after it accordingly.
type shift struct{ rest, content int }

// split separates a profile's samples from the rest. Everything after an unreadable field
// belongs to the rest.
func split(content []byte) (x fields) {
	x.content = content
	from, to, kept := -1, 0, 0 // range of the samples; end of the content copied to rest
	keep := func(end int) {
		if kept < end {
			x.shifts = append(x.shifts, shift{len(x.rest), kept})
			x.rest = append(x.rest, content[kept:end]...)
		}
	}
	for i := 0; i < len(content); {
		f, next := nextField(content, i)
		if next < 0 {
			break
		}
		x.count++
		if f.num == fieldSample {
			keep(i)
			if from < 0 {
				from = i
			}
			to, kept = next, next
			x.samples.count++
		} else {
			x.objects += 300
			if f.num == fieldStrings && f.typ == wireBytes {
				x.samples.texts = append(x.samples.texts, f.body)
			}
			if f.num == fieldLocation {
				x.objects += 24 * int64(len(f.body)) // a line may take only two bytes
			}
		}
		i = next
	}
	keep(len(content))
	from = max(from, 0)
	x.samples.content, x.samples.from = content[from:to:to], from
	return x
}

// tables parses the rest of a profile with pprof's library, which accepts or rejects it
// as a whole. If it is rejected, tables tries again without damaged fields and without
// the one at which the file is truncated.
func tables(rest []byte, f *fields, b *recording.Builder) (*profile.Profile, error) {
	parse := func(content []byte) (*profile.Profile, error) {
		return guarded(func() (*profile.Profile, error) { return profile.ParseUncompressed(content) })
	}
	p, err := parse(rest)
	if err != nil {
		if mended := f.mend(rest, b); len(mended) > 0 {
			if q, again := parse(mended); again == nil {
				p, err = q, nil
			}
		}
	}
	switch {
	case err != nil && strings.Contains(err.Error(), "concatenated"):
		return nil, errSeveral
	case err != nil:
		return nil, fmt.Errorf("the profile is too damaged to read: %v%s", bare(err), f.extent())
	case len(p.SampleType) == 0:
		return nil, errors.New("the profile has no sample types")
	}
	return p, nil
}

// guarded turns a panic of the library into an error.
func guarded(f func() (*profile.Profile, error)) (p *profile.Profile, err error) {
	defer func() {
		if v := recover(); v != nil {
			if _, fault := v.(interface{ Addr() uintptr }); fault {
				panic(v) // the mapped file became unreadable; the caller handles that
			}
			p, err = nil, fmt.Errorf("%v", v)
		}
	}()
	return f()
}

// bare removes the library's own prefix from its errors.
func bare(err error) string {
	return strings.TrimPrefix(err.Error(), "parsing profile: ")
}

// mend copies the valid fields of the rest and warns about the others. Samples count as
// valid here; damaged ones are found when they are read.
func (x *fields) mend(rest []byte, b *recording.Builder) (mended []byte) {
	t := damagedFields(b, x.samples.count)
	for at := 0; at < len(rest); {
		num, typ, n := protowire.ConsumeTag(rest[at:])
		size := -1
		if n > 0 {
			size = protowire.ConsumeFieldValue(num, typ, rest[at+n:])
		}
		t.Read++
		if size < 0 {
			leaveOut(t, x.place(at))
			b.Warn("cut", byteAt(x.place(at)), "The profile is truncated or damaged at byte %d of %d; the rest is left out", x.place(at), len(x.content))
			break
		}
		end := at + n + size
		if whole.fits(num, typ, rest[at+n:end], false) {
			mended = append(mended, rest[at:end]...)
			t.Kept++
		} else {
			leaveOut(t, x.place(at))
			b.Warn("damaged-field", byteAt(x.place(at)), "Field %d of the profile at byte %d is damaged and left out", num, x.place(at))
		}
		at = end
	}
	return mended
}

// damagedFields returns the tally of the profile's fields, which exists only if some are
// damaged. A new tally starts with the given number of valid fields.
func damagedFields(b *recording.Builder, whole int) *recording.Tally {
	t := b.Tally("field")
	if t.Read == 0 {
		t.Read, t.Kept = int64(whole), int64(whole)
	}
	return t
}

func leaveOut(t *recording.Tally, at int) {
	t.LeftOut++
	if t.FirstLeftOut == "" {
		t.FirstLeftOut = byteAt(at)
	}
}

func byteAt(at int) string { return fmt.Sprintf("byte %d", at) }

// place converts an offset in the rest to an offset in the file.
func (x *fields) place(at int) int {
	i := sort.Search(len(x.shifts), func(i int) bool { return x.shifts[i].rest > at })
	if i == 0 {
		return at
	}
	return at - x.shifts[i-1].rest + x.shifts[i-1].content
}

// extent returns a note with the number of valid bytes in the profile, "" if all are
// valid.
func (x *fields) extent() string {
	for at := 0; at < len(x.content); {
		_, next := nextField(x.content, at)
		if next < 0 {
			return fmt.Sprintf(" (valid up to byte %d of %d)", at, len(x.content))
		}
		at = next
	}
	return ""
}
