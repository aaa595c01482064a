package pprof

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/pprof/profile"
	"google.golang.org/protobuf/encoding/protowire"

	"ashlar/ingest/memory"
	"ashlar/ingest/recording"
)

// read reads content with pprof's library, its samples apart where that can be
// done.
func read(content []byte, b *recording.Builder) (*profile.Profile, *samples, error) {
	if !legacy(content) {
		if err := memory.Need(objects(content, 0), "the profile"); err != nil {
			return nil, nil, err
		}
		content = giveIDs(content, b)
		if p, s, ok := parseApart(content); ok && len(p.SampleType) > 0 {
			return p, s, nil
		}
	}
	p, err := parse(content, b)
	if err != nil {
		return nil, nil, err
	}
	return p, &samples{all: p.Sample, count: len(p.Sample)}, nil
}

// parse reads content with pprof's library, which takes or refuses a profile
// as a whole. What it refuses is mended if possible: fields that are damaged,
// and the one at which the file is cut, are taken out.
func parse(content []byte, b *recording.Builder) (*profile.Profile, error) {
	if len(content) == 0 {
		return nil, errors.New("the profile is empty")
	}
	if legacy(content) {
		p, err := guarded(func() (*profile.Profile, error) { return profile.ParseData(content) })
		if err != nil {
			return nil, fmt.Errorf("the profile in an old format cannot be read: %v", plain(err))
		}
		return p, nil
	}
	if err := memory.Need(objects(content, 24), "the profile"); err != nil {
		return nil, err
	}
	p, err := guarded(func() (*profile.Profile, error) { return profile.ParseUncompressed(content) })
	if err != nil {
		mended, rest := mend(content, b)
		if len(mended) > 0 && rest > 0 {
			if q, again := guarded(func() (*profile.Profile, error) { return profile.ParseUncompressed(mended) }); again == nil {
				p, err = q, nil
			}
		}
	}
	switch {
	case err != nil && strings.Contains(err.Error(), "concatenated"):
		return nil, errors.New("the file holds several profiles one after the other; join them with `go tool pprof -proto` or open them one by one")
	case err != nil:
		return nil, fmt.Errorf("the profile is damaged beyond reading: %v%s", plain(err), extent(content))
	case len(p.SampleType) == 0:
		return nil, errors.New("the profile does not say what it measures: it has no sample types")
	}
	return p, nil
}

// objects is about how many bytes what the library makes of a profile takes at
// most, where it makes that many of a byte of a sample. It cannot be stopped once
// it has begun.
func objects(content []byte, ofSamples int64) (n int64) {
	for i := 0; i < len(content); {
		f, next := nextField(content, i)
		if next < 0 {
			break
		}
		switch i = next; f.num {
		case fieldStrings:
			n += 32 + int64(len(f.body))
		case fieldSample:
			n += ofSamples * int64(12+len(f.body))
		case fieldLocation:
			n += 300 + 24*int64(len(f.body)) // a line may have two bytes
		default:
			n += 300
		}
	}
	return n
}

// guarded keeps a mistake of the library's from ending more than the parse.
func guarded(f func() (*profile.Profile, error)) (p *profile.Profile, err error) {
	defer func() {
		if v := recover(); v != nil {
			if _, fault := v.(interface{ Addr() uintptr }); fault {
				panic(v) // the mapped file went away; the caller knows
			}
			p, err = nil, fmt.Errorf("%v", v)
		}
	}()
	return f()
}

// plain takes the library's own prefix off its errors.
func plain(err error) string {
	return strings.TrimPrefix(err.Error(), "parsing profile: ")
}

// mend copies the fields of a profile that are whole, with warnings about the
// others; rest is how many were copied.
func mend(content []byte, b *recording.Builder) (mended []byte, rest int) {
	t := b.Tally("field")
	for at := 0; at < len(content); {
		num, typ, n := protowire.ConsumeTag(content[at:])
		size := -1
		if n > 0 {
			size = protowire.ConsumeFieldValue(num, typ, content[at+n:])
		}
		t.Read++
		where := fmt.Sprintf("byte %d", at)
		if size < 0 {
			t.LeftOut++
			if t.FirstLeftOut == "" {
				t.FirstLeftOut = where
			}
			b.Warn("cut", where, "The profile is cut or damaged at byte %d of %d; what follows is left out", at, len(content))
			break
		}
		end := at + n + size
		if whole.fits(num, typ, content[at+n:end], false) {
			mended = append(mended, content[at:end]...)
			rest++
			t.Kept++
		} else {
			t.LeftOut++
			if t.FirstLeftOut == "" {
				t.FirstLeftOut = where
			}
			b.Warn("damaged-field", where, "Field %d of the profile at byte %d is damaged and left out", num, at)
		}
		at = end
	}
	return mended, rest
}

// extent says, where it helps, up to which byte a profile is whole.
func extent(content []byte) string {
	at := 0
	for at < len(content) {
		n := 0
		if _, _, n = protowire.ConsumeField(content[at:]); n < 0 {
			return fmt.Sprintf(" (its fields are whole up to byte %d of %d)", at, len(content))
		}
		at += n
	}
	return ""
}
