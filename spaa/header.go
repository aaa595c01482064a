package spaa

import "errors"

// FormatError is the error of a file whose header names another format.
type FormatError struct{ Format string }

func (e *FormatError) Error() string {
	switch e.Format {
	case "heap-diff":
		return `this is a "heap-diff" file, which is a report of differences and not a SPAA recording`
	case "":
		return `the header has no "format"; SPAA files say "spaa"`
	}
	return "the header says format \"" + e.Format + "\", but SPAA files say \"spaa\""
}

var errHeader = errors.New("the header is not a JSON object")

// header decodes a header from its text.
func (c *copier) header(text []byte) (Record, error) {
	d := headerDecoder{copier: c, p: Parser{MaxDepth: c.parser.MaxDepth, b: text}}
	h, err := d.decode()
	if err != nil {
		return nil, err
	}
	return h, nil
}

// decode returns the header also with a *FormatError.
func (d *headerDecoder) decode() (*Header, error) {
	h := new(Header)
	end := d.object(d.p.start(), &h.Extra, func(key string, v int, x *Extra) (int, bool) {
		switch key {
		case "type":
			return d.p.skip(v, 1), true
		case "format":
			return d.str(v, key, &h.Format, x), true
		case "version":
			return d.str(v, key, &h.Version, x), true
		case "source_tool":
			return d.str(v, key, &h.SourceTool, x), true
		case "frame_order":
			return d.str(v, key, &h.FrameOrder, x), true
		case "stack_id_mode":
			return d.str(v, key, &h.StackIDMode, x), true
		case "events":
			return d.events(v, h), true
		case "time_range":
			h.TimeRange = new(TimeRange)
			return clearOn(d.timeRange(v, h.TimeRange), &h.TimeRange), true
		case "source":
			h.Source = new(Source)
			return clearOn(d.source(v, h.Source), &h.Source), true
		}
		return mismatch, false
	})
	if end == mismatch {
		return nil, errHeader
	}
	if end < 0 {
		return nil, d.p.err
	}
	if h.Format != "spaa" {
		return h, &FormatError{h.Format}
	}
	return h, nil
}

// headerDecoder reads the nested objects of a header. Mistyped counts known
// keys with a value of another JSON type, for [Validate].
type headerDecoder struct {
	*copier
	p        Parser
	mistyped []string
	unknown  []string
}

// object walks an object; value returns the index behind the value and whether
// it knows the key. What it does not know or read goes to x.
func (d *headerDecoder) object(i int, x *Extra, value func(key string, v int, x *Extra) (int, bool)) int {
	if !d.p.object(i) {
		return mismatch
	}
	seen := make(map[string]bool)
	return d.p.eachKey(i, func(k []byte, v int) int {
		key := d.copier.str(k)
		if seen[key] {
			d.p.dups++
			if delete(*x, key); len(*x) == 0 {
				*x = nil // as in a header that never had one
			}
		}
		seen[key] = true
		end, known := value(key, v, x)
		if end == mismatch {
			if end = d.p.skip(v, 1); end < 0 {
				return end
			}
			x.set(key, compactValue(d.p.b[v:end]))
			if !known {
				d.unknown = append(d.unknown, key)
			} else if d.p.b[v] != 'n' {
				d.mistyped = append(d.mistyped, key)
			}
		}
		return end
	})
}

func clearOn[T any](end int, dst **T) int {
	if end < 0 {
		*dst = nil
	}
	return end
}

func (d *headerDecoder) str(v int, key string, dst *string, x *Extra) int {
	var b []byte
	end := d.p.text(v, &b)
	*dst = d.opt(b, key, x)
	return end
}

func (d *headerDecoder) num(v int, dst *Number) int {
	var n RawNumber
	end := d.p.number(v, &n)
	*dst = n.Number()
	return end
}

func (d *headerDecoder) events(v int, h *Header) int {
	h.Events = []Event{}
	end := d.p.array(v, func(i int) int {
		var e Event
		end := d.event(i, &e)
		h.Events = append(h.Events, e)
		return end
	})
	if end < 0 {
		h.Events = nil
	}
	return end
}

func (d *headerDecoder) event(i int, e *Event) int {
	return d.object(i, &e.Extra, func(key string, v int, x *Extra) (int, bool) {
		switch key {
		case "name":
			return d.str(v, key, &e.Name, x), true
		case "kind":
			return d.str(v, key, &e.Kind, x), true
		case "sampling":
			e.Sampling = Sampling{}
			return d.sampling(v, &e.Sampling), true
		case "allocation_tracking":
			e.AllocationTracking = new(AllocationTracking)
			return clearOn(d.tracking(v, e.AllocationTracking), &e.AllocationTracking), true
		}
		return mismatch, false
	})
}

func (d *headerDecoder) sampling(i int, s *Sampling) int {
	return d.object(i, &s.Extra, func(key string, v int, x *Extra) (int, bool) {
		switch key {
		case "mode":
			return d.str(v, key, &s.Mode, x), true
		case "primary_metric":
			return d.str(v, key, &s.PrimaryMetric, x), true
		case "sample_period":
			return d.num(v, &s.SamplePeriod), true
		case "frequency_hz":
			return d.num(v, &s.FrequencyHz), true
		}
		return mismatch, false
	})
}

func (d *headerDecoder) tracking(i int, t *AllocationTracking) int {
	return d.object(i, &t.Extra, func(key string, v int, x *Extra) (int, bool) {
		switch key {
		case "tracks_frees":
			return d.p.optBool(v, &t.TracksFrees), true
		case "has_timestamps":
			return d.p.optBool(v, &t.HasTimestamps), true
		}
		return mismatch, false
	})
}

func (d *headerDecoder) timeRange(i int, t *TimeRange) int {
	return d.object(i, &t.Extra, func(key string, v int, x *Extra) (int, bool) {
		switch key {
		case "start":
			return d.num(v, &t.Start), true
		case "end":
			return d.num(v, &t.End), true
		case "unit":
			return d.str(v, key, &t.Unit, x), true
		}
		return mismatch, false
	})
}

func (d *headerDecoder) source(i int, s *Source) int {
	return d.object(i, &s.Extra, func(key string, v int, x *Extra) (int, bool) {
		switch key {
		case "tool":
			return d.str(v, key, &s.Tool, x), true
		case "command":
			return d.str(v, key, &s.Command, x), true
		case "tool_version":
			return d.str(v, key, &s.ToolVersion, x), true
		}
		return mismatch, false
	})
}
