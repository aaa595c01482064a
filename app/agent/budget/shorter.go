package budget

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// beyond counts the elements of a list that cannot fit the budget, and adds up their cost
// by field.
type beyond struct {
	n    int
	cost [len(costs)]sum // indexed like costs
}

// sum adds up JSON numbers, ignoring their signs. Most are small.
type sum struct {
	small int64
	large *big.Rat
}

func (s *sum) add(number string) {
	n, err := strconv.ParseInt(number, 10, 64)
	if n = max(n, -n); err == nil && n >= 0 && s.small <= math.MaxInt64-n {
		s.small += n
		return
	}
	if r, ok := new(big.Rat).SetString(number); ok {
		s.large = r.Add(r.Abs(r), s.rat())
		s.small = 0
	}
}

func (s *sum) rat() *big.Rat {
	r := new(big.Rat).SetInt64(s.small)
	if s.large != nil {
		r.Add(r, s.large)
	}
	return r
}

// shorter returns an answer with its own lists cut to most elements, and a count of the
// rest of each list by its JSON name. Writing millions of elements only to leave them out
// would take seconds and gigabytes.
func shorter(v any, most int) (any, map[string]*beyond) {
	at := reflect.Indirect(reflect.ValueOf(v))
	if _, own := v.(json.Marshaler); own || at.Kind() != reflect.Struct {
		return v, nil
	}
	out := reflect.New(at.Type()).Elem()
	out.Set(at)
	found := map[string]*beyond{}
	shorten(out, most, found)
	return out.Interface(), found
}

func shorten(v reflect.Value, most int, found map[string]*beyond) {
	for i := range v.NumField() {
		f, list := v.Type().Field(i), v.Field(i)
		switch {
		case f.Anonymous && list.Kind() == reflect.Struct:
			shorten(list, most, found)
		case f.IsExported() && list.Kind() == reflect.Slice && list.Len() > most:
			rest := &beyond{n: list.Len() - most}
			fields := costFields(list.Type().Elem())
			for j := most; j < list.Len(); j++ {
				rest.add(list.Index(j), fields)
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			found[name] = rest
			list.Set(list.Slice(0, most))
		}
	}
}

// costFields returns the fields of a type that hold an element's cost, in the order of
// costs; nil for those the type lacks.
func costFields(t reflect.Type) (fields [len(costs)][]int) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return fields
	}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if i := slices.Index(costs[:], name); i >= 0 && fields[i] == nil {
			fields[i] = f.Index
		}
	}
	return fields
}

func (r *beyond) add(v reflect.Value, fields [len(costs)][]int) {
	v = reflect.Indirect(v)
	for i, index := range fields {
		if index == nil || !v.IsValid() {
			continue
		}
		f, err := v.FieldByIndexErr(index)
		if f = reflect.Indirect(f); err != nil || !f.IsValid() {
			continue
		}
		if f.Kind() == reflect.String {
			r.cost[i].add(f.String())
		} else {
			r.cost[i].add(fmt.Sprint(f.Interface()))
		}
	}
}
