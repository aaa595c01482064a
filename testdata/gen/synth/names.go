package synth

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A language determines how a module's functions are named.
type language uint8

const (
	inGo language = iota
	inCPP
	inC
)

// A module is a binary or library of the invented program, or its kernel.
type module struct {
	name   string
	lang   language
	kernel bool
	funcs  int      // number of functions
	spaces []string // packages, namespaces or prefixes
	calls  []int    // other modules that it calls
	base   uint64   // address at which it is mapped
}

const (
	modShop = iota
	modRules
	modQuery
	modStorage
	modDraw
	modJSON
	modNet
	modCodec
	modCrypt
	modSched
	modLibc
	modLoader
	modKernel
	moduleCount
)

// modules lists the program's binaries from the top down: a module calls only modules
// below it.
var modules = [moduleCount]module{
	modShop: {name: "/opt/shop/bin/shopd", lang: inGo, funcs: 900, base: 0x400000,
		spaces: []string{"main", "shop/cart", "shop/stock", "shop/pricing", "shop/web/router", "shop/web/session", "shop/mail", "shop/internal/pool"},
		calls:  []int{modRules, modQuery, modStorage, modDraw, modJSON, modNet, modCodec, modSched, modLibc}},
	modRules: {name: "/opt/shop/lib/librules.so.3", lang: inCPP, funcs: 260, base: 0x7f1000000000,
		spaces: []string{"rules", "rules::vm", "rules::parse"},
		calls:  []int{modQuery, modJSON, modLibc}},
	modQuery: {name: "/opt/shop/lib/libquery.so.1", lang: inCPP, funcs: 420, base: 0x7f1010000000,
		spaces: []string{"query::plan", "query::exec", "query::cost"},
		calls:  []int{modStorage, modCodec, modSched, modLibc}},
	modStorage: {name: "/opt/shop/lib/libstorage.so.4", lang: inCPP, funcs: 460, base: 0x7f1020000000,
		spaces: []string{"storage", "storage::lsm", "storage::cache", "storage::wal"},
		calls:  []int{modCodec, modCrypt, modSched, modLibc, modKernel}},
	modDraw: {name: "/opt/shop/lib/libdraw.so.0", lang: inCPP, funcs: 240, base: 0x7f1030000000,
		spaces: []string{"draw", "draw::glyph", "draw::path"},
		calls:  []int{modCodec, modLibc}},
	modJSON: {name: "/opt/shop/lib/libjson.so.2", lang: inCPP, funcs: 120, base: 0x7f1040000000,
		spaces: []string{"json", "json::detail"},
		calls:  []int{modLibc}},
	modNet: {name: "/opt/shop/lib/libnet.so.3", lang: inC, funcs: 240, base: 0x7f1050000000,
		spaces: []string{"net", "tls", "http2"},
		calls:  []int{modCrypt, modSched, modLibc, modKernel}},
	modCodec: {name: "/opt/shop/lib/libcodec.so.2", lang: inC, funcs: 200, base: 0x7f1060000000,
		spaces: []string{"codec", "huff", "lz"},
		calls:  []int{modLibc}},
	modCrypt: {name: "/opt/shop/lib/libcrypt.so.1", lang: inC, funcs: 110, base: 0x7f1070000000,
		spaces: []string{"crypt", "curve"},
		calls:  []int{modLibc}},
	modSched: {name: "/opt/shop/lib/libsched.so.0", lang: inC, funcs: 70, base: 0x7f1080000000,
		spaces: []string{"sched", "fiber"},
		calls:  []int{modLibc, modKernel}},
	modLibc: {name: "/lib/x86_64-linux-gnu/libc.so.6", lang: inC, funcs: 130, base: 0x7f1090000000,
		spaces: []string{"__mem", "__str", "_io", "__alloc"},
		calls:  []int{modLoader, modKernel}},
	modLoader: {name: "/lib64/ld-linux-x86-64.so.2", lang: inC, funcs: 30, base: 0x7f10a0000000,
		spaces: []string{"_dl"},
		calls:  []int{modKernel}},
	modKernel: {name: "[kernel.kallsyms]", lang: inC, funcs: 220, base: 0xffffffff81000000, kernel: true,
		spaces: []string{"vfs", "tcp", "page", "do", "futex"}},
}

var verbs = strings.Fields(`load store find insert erase merge split scan parse format encode decode
	read write flush open close lock unlock wait wake send receive accept bind resolve match filter sort
	reduce fold hash verify sign seal compare copy move resize grow shrink trim pack unpack build draw
	measure place clip fill stroke plan choose price count tally sum reserve commit abort retry route
	dispatch queue drain evict warm refresh expire validate quote escape split_at seek skip append prepare`)

var nouns = strings.Fields(`basket order line item price stock shelf client session token cookie page header
	body field row column table index tree leaf node block page_run slab arena segment level run filter_bits
	key value slice batch chunk stream frame packet window buffer ring queue slot worker task job timer
	event socket route handler query plan join cursor predicate literal rule scope symbol glyph path edge
	curve pixel tile layer image font text string number map set list entry record log journal checkpoint
	snapshot version epoch lease shard replica peer`)

var elements = strings.Fields(`int unsigned double std::string storage::Slice Key Row Tile std::byte uint64_t`)

// function invents a function of module m; its name may be one that was returned before.
func (m *module) function(rng *rand.PCG) (name, file string) {
	r := rng.Uint64()
	space := m.spaces[pick(r, len(m.spaces))]
	verb, noun := verbs[below(r>>16, len(verbs))], nouns[below(r>>24, len(nouns))]
	r = rng.Uint64()
	other := nouns[below(r, len(nouns))]
	variant := r >> 32 & 7
	switch m.lang {
	case inGo:
		return goName(space, verb, noun, other, variant), fmt.Sprintf("%s/%s.go", space, noun)
	case inCPP:
		element := elements[below(r>>40, len(elements))]
		return cppName(space, verb, noun, other, element, variant),
			fmt.Sprintf("src/%s/%s.cc", strings.ReplaceAll(space, "::", "/"), noun)
	}
	name = space + "_" + verb + "_" + noun
	if variant < 2 {
		name += "_" + other
	}
	return name, fmt.Sprintf("%s/%s.c", strings.Trim(space, "_"), noun)
}

func goName(space, verb, noun, other string, variant uint64) string {
	switch {
	case variant < 4:
		return fmt.Sprintf("%s.(*%s).%s%s", space, camel(noun), camel(verb), camel(other))
	case variant < 5:
		return fmt.Sprintf("%s.%s%s.func%d", space, lowerCamel(verb), camel(noun), 1+len(other)%3)
	case variant < 6:
		return fmt.Sprintf("%s.%s.%s", space, camel(noun), camel(verb))
	}
	return space + "." + lowerCamel(verb) + camel(noun)
}

func cppName(space, verb, noun, other, element string, variant uint64) string {
	switch {
	case variant < 3:
		return fmt.Sprintf("%s::%s::%s(%s const&)", space, camel(noun), verb, element)
	case variant < 5:
		return fmt.Sprintf("%s::%s<%s>::%s_%s(%s*, unsigned long)", space, camel(noun), element, verb, other, element)
	case variant < 6:
		return fmt.Sprintf("void %s::%s_%s<%s, %d>(%s&)", space, verb, noun, element, 1<<(len(other)%6), camel(other))
	}
	return fmt.Sprintf("%s::%s::%s%s", space, camel(noun), verb, camel(other))
}

func camel(s string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(s, "_") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

func lowerCamel(s string) string {
	c := camel(s)
	return strings.ToLower(c[:1]) + c[1:]
}
