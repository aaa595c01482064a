package otlp

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
)

// The JSON encoding of OTLP: keys in lowerCamelCase, 64-bit numbers as strings or numbers,
// and ids of traces and spans in hexadecimal. Keys are the same in all eras.
type (
	jsonMessage struct {
		ResourceProfiles []jsonResource `json:"resourceProfiles"`
		Dictionary       jsonDictionary `json:"dictionary"`
	}
	jsonDictionary struct {
		MappingTable []struct {
			MemoryStart      num   `json:"memoryStart"`
			MemoryLimit      num   `json:"memoryLimit"`
			FileOffset       num   `json:"fileOffset"`
			FilenameStrindex num   `json:"filenameStrindex"`
			AttributeIndices []num `json:"attributeIndices"`
		} `json:"mappingTable"`
		LocationTable []struct {
			MappingIndex     num        `json:"mappingIndex"`
			Address          num        `json:"address"`
			Lines            []jsonLine `json:"lines"`
			Line             []jsonLine `json:"line"`
			AttributeIndices []num      `json:"attributeIndices"`
		} `json:"locationTable"`
		FunctionTable []struct {
			NameStrindex       num `json:"nameStrindex"`
			SystemNameStrindex num `json:"systemNameStrindex"`
			FilenameStrindex   num `json:"filenameStrindex"`
			StartLine          num `json:"startLine"`
		} `json:"functionTable"`
		LinkTable []struct {
			TraceID hexBytes `json:"traceId"`
			SpanID  hexBytes `json:"spanId"`
		} `json:"linkTable"`
		StringTable    []string        `json:"stringTable"`
		AttributeTable []jsonAttribute `json:"attributeTable"`
		StackTable     []struct {
			LocationIndices []num `json:"locationIndices"`
		} `json:"stackTable"`
	}
	jsonLine struct {
		FunctionIndex num `json:"functionIndex"`
		Line          num `json:"line"`
		Column        num `json:"column"`
	}
	jsonAttribute struct {
		Key          string    `json:"key"`
		KeyStrindex  num       `json:"keyStrindex"`
		Value        jsonValue `json:"value"`
		UnitStrindex num       `json:"unitStrindex"`
	}
	jsonValue struct {
		StringValue         *string  `json:"stringValue"`
		BoolValue           *bool    `json:"boolValue"`
		IntValue            *num     `json:"intValue"`
		DoubleValue         *float64 `json:"doubleValue"`
		BytesValue          *string  `json:"bytesValue"`
		StringValueStrindex num      `json:"stringValueStrindex"`
		ArrayValue          *struct {
			Values []jsonValue `json:"values"`
		} `json:"arrayValue"`
		KvlistValue *struct {
			Values []jsonAttribute `json:"values"`
		} `json:"kvlistValue"`
	}
	jsonResource struct {
		Resource struct {
			Attributes []jsonAttribute `json:"attributes"`
		} `json:"resource"`
		ScopeProfiles []struct {
			Scope struct {
				Name       string          `json:"name"`
				Version    string          `json:"version"`
				Attributes []jsonAttribute `json:"attributes"`
			} `json:"scope"`
			Profiles []jsonProfile `json:"profiles"`
		} `json:"scopeProfiles"`
	}
	jsonProfile struct {
		SampleType             jsonType     `json:"sampleType"`
		Samples                []jsonSample `json:"samples"`
		Sample                 []jsonSample `json:"sample"`
		TimeUnixNano           num          `json:"timeUnixNano"`
		DurationNano           num          `json:"durationNano"`
		PeriodType             jsonType     `json:"periodType"`
		Period                 num          `json:"period"`
		AttributeIndices       []num        `json:"attributeIndices"`
		CommentStrindices      []num        `json:"commentStrindices"`
		DroppedAttributesCount num          `json:"droppedAttributesCount"`
		OriginalPayload        string       `json:"originalPayload"`
	}
	jsonType struct {
		TypeStrindex num             `json:"typeStrindex"`
		UnitStrindex num             `json:"unitStrindex"`
		Temporality  json.RawMessage `json:"aggregationTemporality"` // until 1.8
	}
	jsonSample struct {
		StackIndex         num   `json:"stackIndex"`
		LinkIndex          num   `json:"linkIndex"`
		AttributeIndices   []num `json:"attributeIndices"`
		Values             []num `json:"values"`
		TimestampsUnixNano []num `json:"timestampsUnixNano"`
		// LocationsLength is the length of a stack in 1.7 and older.
		LocationsLength *num `json:"locationsLength"`
	}
)

// num is a 64-bit number, with or without quotation marks; unsigned numbers from 2^63 on
// keep their bits.
type num int64

func (n *num) UnmarshalJSON(b []byte) error {
	s := string(bytes.Trim(b, `"`))
	if s == "null" || s == "" {
		return nil
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		u, uerr := strconv.ParseUint(s, 10, 64)
		if uerr != nil {
			return fmt.Errorf("%.40q is not a 64-bit integer", s)
		}
		v = int64(u)
	}
	*n = num(v)
	return nil
}

type hexBytes []byte

func (h *hexBytes) UnmarshalJSON(b []byte) (err error) {
	*h, err = hex.DecodeString(string(bytes.Trim(b, `"`)))
	return err
}

// parseJSON reads one object. old reports whether a profile in it is of the unsupported
// era.
func parseJSON(b []byte) (m *message, old bool, err error) {
	var j jsonMessage
	if err := json.Unmarshal(b, &j); err != nil {
		return nil, false, err
	}
	m = &message{}
	j.Dictionary.into(&m.dict)
	for i := range j.ResourceProfiles {
		r := &j.ResourceProfiles[i]
		x := resource{attrs: attributes(r.Resource.Attributes)}
		for k := range r.ScopeProfiles {
			sp := &r.ScopeProfiles[k]
			s := scope{name: sp.Scope.Name, version: sp.Scope.Version, attrs: attributes(sp.Scope.Attributes)}
			for p := range sp.Profiles {
				profile, o := sp.Profiles[p].profile()
				old = old || o
				s.profiles = append(s.profiles, profile)
			}
			x.scopes = append(x.scopes, s)
		}
		m.resources = append(m.resources, x)
	}
	return m, old, nil
}

func (j *jsonDictionary) into(d *dictionary) {
	for _, x := range j.MappingTable {
		d.mappings = append(d.mappings, mapping{uint64(x.MemoryStart), uint64(x.MemoryLimit), uint64(x.FileOffset), int32(x.FilenameStrindex), convert[int32](x.AttributeIndices)})
	}
	for _, x := range j.LocationTable {
		l := location{mapping: int32(x.MappingIndex), addr: uint64(x.Address), attrs: convert[int32](x.AttributeIndices)}
		for _, n := range append(x.Lines, x.Line...) {
			l.lines = append(l.lines, line{int32(n.FunctionIndex), int64(n.Line), int64(n.Column)})
		}
		d.locations = append(d.locations, l)
	}
	for _, x := range j.FunctionTable {
		d.functions = append(d.functions, function{int32(x.NameStrindex), int32(x.SystemNameStrindex), int32(x.FilenameStrindex), int64(x.StartLine)})
	}
	for _, x := range j.LinkTable {
		d.links = append(d.links, link{x.TraceID, x.SpanID})
	}
	d.strings = j.StringTable
	d.attrs = attributes(j.AttributeTable)
	for _, x := range j.StackTable {
		d.stacks = append(d.stacks, convert[int32](x.LocationIndices))
	}
}

func (j *jsonProfile) profile() (p profile, old bool) {
	p = profile{
		sampleType: int32(j.SampleType.TypeStrindex), sampleUnit: int32(j.SampleType.UnitStrindex),
		periodType: int32(j.PeriodType.TypeStrindex), periodUnit: int32(j.PeriodType.UnitStrindex),
		period: int64(j.Period), time: uint64(j.TimeUnixNano), duration: uint64(j.DurationNano),
		attrs: convert[int32](j.AttributeIndices), comments: convert[int32](j.CommentStrindices),
		droppedAttrs: uint64(j.DroppedAttributesCount), payload: len(j.OriginalPayload),
		cumulative: string(j.SampleType.Temporality) == "2" || bytes.Contains(j.SampleType.Temporality, []byte("CUMULATIVE")),
	}
	for _, s := range append(j.Samples, j.Sample...) {
		old = old || s.LocationsLength != nil
		p.samples = append(p.samples, sample{
			stack: int32(s.StackIndex), link: int32(s.LinkIndex), attrs: convert[int32](s.AttributeIndices),
			values: convert[int64](s.Values), times: convert[uint64](s.TimestampsUnixNano),
		})
	}
	return p, old
}

func convert[T int32 | int64 | uint64](in []num) []T {
	if len(in) == 0 {
		return nil
	}
	out := make([]T, len(in))
	for i, n := range in {
		out[i] = T(n)
	}
	return out
}

func attributes(in []jsonAttribute) (out []attribute) {
	for i := range in {
		out = append(out, attribute{in[i].Key, int32(in[i].KeyStrindex), in[i].Value.value(), int32(in[i].UnitStrindex)})
	}
	return out
}

func (j *jsonValue) value() (v value) {
	switch {
	case j.StringValue != nil:
		v.text = *j.StringValue
	case j.BoolValue != nil:
		v.text = strconv.FormatBool(*j.BoolValue)
	case j.IntValue != nil:
		v.text = strconv.FormatInt(int64(*j.IntValue), 10)
	case j.DoubleValue != nil:
		v.text = strconv.FormatFloat(*j.DoubleValue, 'g', -1, 64)
	case j.BytesValue != nil:
		v.text = *j.BytesValue
		if raw, err := base64.StdEncoding.DecodeString(v.text); err == nil {
			v.text = hex.EncodeToString(raw)
		}
	case j.ArrayValue != nil:
		v.list = []value{}
		for i := range j.ArrayValue.Values {
			v.list = append(v.list, j.ArrayValue.Values[i].value())
		}
	case j.KvlistValue != nil:
		v.list = []value{}
		for i := range j.KvlistValue.Values {
			kv := &j.KvlistValue.Values[i]
			v.list = append(v.list, value{text: kv.Key, idx: int32(kv.KeyStrindex)}, kv.Value.value())
		}
	default:
		v.idx = int32(j.StringValueStrindex)
	}
	return v
}
