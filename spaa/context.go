package spaa

import (
	"strings"
	"unsafe"
)

// A contextCache holds parsed contexts by their text: most records have one of a few
// contexts, and looking up the text costs less than parsing it again.
type contextCache struct {
	last   *knownContext
	byText map[string]*knownContext
	size   int // bytes of text
	parser *Parser
}

// A knownContext is a context with the problems and duplicates found in parsing it.
type knownContext struct {
	Context
	text       string
	problems   []Problem
	duplicates int
}

// Limits of a contextCache. When one is reached, the cache is emptied.
const (
	mostContexts    = 1 << 15
	mostContextText = 16 << 20
)

// context reads a context. Records with equal context texts share one Context, which must
// not be changed, unless the caller owns the records.
func (p *Parser) context(i int, dst **Context, depth int) int {
	*dst = nil
	if !p.isObject(i) {
		return mismatch
	}
	if p.own {
		c := new(Context)
		end := p.object(i, contextPlan, unsafe.Pointer(c), depth+1)
		if end >= 0 {
			*dst = c
		}
		return end
	}
	cache := &p.contexts
	c := cache.starting(p.b[i:])
	if c == nil {
		end := p.skip(i, depth)
		if end < 0 {
			return end
		}
		text := p.b[i:end]
		if c = cache.byText[text]; c == nil {
			c = cache.read(strings.Clone(text), p.maxDepth())
		}
	}
	cache.last, *dst = c, &c.Context
	p.Problems = append(p.Problems, c.problems...)
	p.Duplicates += c.duplicates
	return i + len(c.text)
}

// starting returns the known context with which text starts: the last one, or one that
// contains no objects. It cannot be only a part of the context in the text, because a
// complete object is never the prefix of another.
func (cc *contextCache) starting(text string) *knownContext {
	if cc.last != nil && strings.HasPrefix(text, cc.last.text) {
		return cc.last
	}
	return cc.byText[text[:strings.IndexByte(text, '}')+1]]
}

// read parses the text of a new context; the text has been checked before.
func (cc *contextCache) read(text string, maxDepth int) *knownContext {
	if cc.byText == nil || len(cc.byText) >= mostContexts || cc.size > mostContextText {
		cc.byText, cc.size = map[string]*knownContext{}, 0
	}
	if cc.parser == nil {
		cc.parser = &Parser{own: true, Extras: true}
	}
	c := &knownContext{text: text}
	p := cc.parser
	p.MaxDepth, p.b = maxDepth, text
	p.Problems, p.Duplicates = nil, 0
	p.object(0, contextPlan, unsafe.Pointer(&c.Context), 1)
	c.problems, c.duplicates = p.Problems, p.Duplicates
	cc.byText[text] = c
	cc.size += len(text)
	return c
}
