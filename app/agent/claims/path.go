package claims

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// step matches the first step of a path: a field, an index, or a field with its value.
var step = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\.?([A-Za-z0-9_-]+)|^\[([0-9]+)\]|^\[([A-Za-z0-9_-]+)=("(?:[^"\\]|\\.)*")\]`)
})

// follow returns the field of an answer at a path.
func follow(v any, path string) (any, error) {
	for rest := path; rest != ""; {
		m := step().FindStringSubmatch(rest)
		if m == nil {
			return nil, fmt.Errorf("%q is not a path; write rows[0].self or rows[name=\"parse\"].self", path)
		}
		at := strings.TrimSuffix(path, rest)
		rest = rest[len(m[0]):]
		switch {
		case m[1] != "":
			o, _ := v.(map[string]any)
			x, ok := o[m[1]]
			if !ok {
				return nil, fmt.Errorf("there is no field %s in %s", m[1], or(at, "the answer"))
			}
			v = x
		case m[2] != "":
			list, _ := v.([]any)
			i, err := strconv.Atoi(m[2])
			if err != nil || i >= len(list) {
				return nil, fmt.Errorf("%s has only %d elements, not [%s]", at, len(list), m[2])
			}
			v = list[i]
		default:
			var name string
			if err := json.Unmarshal([]byte(m[4]), &name); err != nil {
				return nil, fmt.Errorf("%s is not text: %w", m[4], err)
			}
			list, _ := v.([]any)
			i := slices.IndexFunc(list, func(x any) bool {
				o, _ := x.(map[string]any)
				return o[m[3]] != nil && fmt.Sprint(o[m[3]]) == name
			})
			if i < 0 {
				return nil, fmt.Errorf("no element of %s has the %s %q", at, m[3], name)
			}
			v = list[i]
		}
	}
	return v, nil
}
