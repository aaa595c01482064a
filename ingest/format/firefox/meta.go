package firefox

import (
	"math/big"
	"path"
	"strings"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/model/recording"
)

// meta holds the metadata of a profile.
type meta struct {
	start, begin, end number // start of the program or process; begin and end of the recording
	interval          number
	cpuUnit           string
	categories        []string
	texts             map[string]map[string]bool // by marker type: the fields whose values are string numbers
	notes             [][2]string
	product           string
	command           string
	version           string
	gecko             string
	isGecko           bool
}

// A number is a decimal number that may be missing.
type number struct {
	decode.Number
	ok bool
}

func readNumber(raw []byte) number {
	n, ok, fits := decode.ParseNumber(jsonscan.Unquoted(raw))
	return number{n, ok && fits}
}

func (m *meta) read(raw []byte) {
	for k, v := range jsonscan.Object(raw).All {
		switch key := string(k); key {
		case "startTime":
			m.start = readNumber(v)
		case "profilingStartTime":
			m.begin = readNumber(v)
		case "profilingEndTime":
			m.end = readNumber(v)
		case "interval":
			m.interval = readNumber(v)
		case "sampleUnits":
			m.cpuUnit = jsonscan.Plain(jsonscan.Member(v, "threadCPUDelta"))
		case "categories":
			for c := range jsonscan.Array(v).All {
				m.categories = append(m.categories, jsonscan.Plain(jsonscan.Member(c, "name")))
			}
		case "markerSchema":
			m.schema(v)
		case "product":
			m.product = jsonscan.Plain(v)
		case "arguments", "importedFrom":
			m.command = jsonscan.Plain(v)
		case "preprocessedProfileVersion":
			m.version = jsonscan.Plain(v)
		case "version":
			m.gecko = jsonscan.Plain(v)
		case "misc", "appBuildID":
			m.isGecko = true
			fallthrough
		case "abi", "oscpu", "platform", "toolkit", "CPUName", "physicalCPUs", "logicalCPUs", "mainMemory", "updateChannel", "device":
			m.notes = append(m.notes, [2]string{key, jsonscan.Plain(v)})
		}
	}
}

// schema notes which marker fields hold string numbers.
func (m *meta) schema(raw []byte) {
	m.texts = map[string]map[string]bool{}
	for s := range jsonscan.Array(raw).All {
		fields := jsonscan.Member(s, "fields")
		if fields == nil {
			fields = jsonscan.Member(s, "data") // until version 55
		}
		name := jsonscan.Plain(jsonscan.Member(s, "name"))
		for field := range jsonscan.Array(fields).All {
			switch jsonscan.Plain(jsonscan.Member(field, "format")) {
			case "unique-string", "flow-id", "terminating-flow-id":
				if m.texts[name] == nil {
					m.texts[name] = map[string]bool{}
				}
				m.texts[name][jsonscan.Plain(jsonscan.Member(field, "key"))] = true
			}
		}
	}
}

// addMeta records the metadata of the first profile.
func (d *decoder) addMeta(m *meta) {
	src := d.b.Source()
	src.Version = m.version
	if m.isGecko {
		src.Tool = m.product
	} else {
		src.Command = m.product
	}
	if m.version == "" {
		src.Version = m.gecko
	}
	src.Note("arguments", m.command)
	if m.start.ok {
		if ns, ok := m.start.Round(6).At(6); ok && ns > 0 {
			src.Note(recording.NoteTime, recording.NoteUnix(ns))
		}
	}
	if m.begin.ok && m.end.ok {
		if ps, ok := m.end.Picos(9).Since(m.begin.Picos(9)); ok && ps > 0 {
			src.Note(recording.NoteDuration, recording.NoteSeconds(ps/1000))
		}
	}
	for _, n := range m.notes {
		src.Note(n[0], n[1])
	}
}

// frequency returns the number of samples per second, 0 if it was not recorded.
func (m *meta) frequency() float64 {
	if !m.interval.ok || m.interval.Mantissa <= 0 {
		return 0
	}
	ms := new(big.Rat).SetFrac(big.NewInt(m.interval.Mantissa), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(m.interval.Scale)), nil))
	f, _ := new(big.Rat).Quo(big.NewRat(1000, 1), ms).Float64()
	return f
}

func (m *meta) category(i int) string {
	if i < 0 || i >= len(m.categories) {
		return ""
	}
	return m.categories[i]
}

// lib is a binary.
type lib struct {
	name, id   string
	start, end uint64 // address of the mapping, in raw profiles
}

// readLibs reads a list of binaries, which old profiles hold as JSON in a string.
func readLibs(raw []byte) (libs []lib) {
	if len(raw) > 0 && raw[0] == '"' {
		raw = []byte(jsonscan.Plain(raw))
	}
	for o := range jsonscan.Array(raw).All {
		var l lib
		code := ""
		for k, v := range jsonscan.Object(o).All {
			switch string(k) {
			case "name":
				l.name = base(jsonscan.Plain(v))
			case "breakpadId":
				l.id = jsonscan.Plain(v)
			case "codeId":
				code = jsonscan.Plain(v)
			case "start":
				l.start = address(v)
			case "end":
				l.end = address(v)
			}
		}
		if code != "" {
			l.id = code
		}
		libs = append(libs, l)
	}
	return libs
}

// base returns the last element of a path with slashes or backslashes.
func base(s string) string { return path.Base(strings.ReplaceAll(s, `\`, "/")) }

func address(raw []byte) uint64 {
	if n := readNumber(raw); n.ok && n.Scale == 0 && n.Mantissa >= 0 {
		return uint64(n.Mantissa)
	}
	return 0
}
