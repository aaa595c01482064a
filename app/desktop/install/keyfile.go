package install

import (
	"os"
	"slices"
	"strings"
)

// Sections of mimeapps.list.
const (
	defaultApps = "Default Applications"
	addedApps   = "Added Associations"
)

// keyFile holds the lines of a file of sections and keys, so that foreign lines stay
// unchanged.
type keyFile []string

// readKeyFile reads a file; an unreadable file counts as empty.
func readKeyFile(path string) keyFile {
	b, err := os.ReadFile(path)
	if err != nil || len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

func (k keyFile) bytes() []byte {
	if len(k) == 0 {
		return nil
	}
	return []byte(strings.Join(k, "\n") + "\n")
}

// section returns the lines from..to of a section, without its header; ok is false if
// there is no such section.
func (k keyFile) section(name string) (from, to int, ok bool) {
	from = slices.IndexFunc(k, func(l string) bool { return strings.TrimSpace(l) == "["+name+"]" }) + 1
	if from == 0 {
		return 0, 0, false
	}
	to = from
	for to < len(k) && !strings.HasPrefix(strings.TrimSpace(k[to]), "[") {
		to++
	}
	return from, to, true
}

// find returns the index of a key's line, -1 for none.
func (k keyFile) find(section, key string) int {
	from, to, _ := k.section(section)
	for i := from; i < to; i++ {
		if name, _, ok := strings.Cut(k[i], "="); ok && strings.TrimSpace(name) == key {
			return i
		}
	}
	return -1
}

// list returns the values of a key.
func (k keyFile) list(section, key string) []string {
	i := k.find(section, key)
	if i < 0 {
		return nil
	}
	_, value, _ := strings.Cut(k[i], "=")
	return values(value)
}

func values(s string) []string {
	return slices.DeleteFunc(strings.Split(strings.TrimSpace(s), ";"), func(v string) bool { return v == "" })
}

// set writes a key. A missing section is added at the end.
func (k keyFile) set(section, key string, list []string) keyFile {
	line := key + "=" + strings.Join(list, ";") + ";"
	if i := k.find(section, key); i >= 0 {
		k[i] = line
		return k
	}
	_, to, ok := k.section(section)
	if !ok {
		if len(k) > 0 {
			k = append(k, "")
		}
		return append(k, "["+section+"]", line)
	}
	for to > 0 && strings.TrimSpace(k[to-1]) == "" {
		to--
	}
	return slices.Insert(k, to, line)
}

// without removes an entry from every list; it removes keys that become empty.
func (k keyFile) without(entry string) keyFile {
	var out keyFile
	for _, line := range k {
		key, value, ok := strings.Cut(line, "=")
		all := values(value)
		if !ok || !slices.Contains(all, entry) {
			out = append(out, line)
			continue
		}
		all = slices.DeleteFunc(all, func(v string) bool { return v == entry })
		if len(all) > 0 {
			out = append(out, key+"="+strings.Join(all, ";")+";")
		}
	}
	return out
}

// dropSection removes a section that has no keys, with the blank line above.
func (k keyFile) dropSection(name string) keyFile {
	from, to, ok := k.section(name)
	if !ok {
		return k
	}
	for _, line := range k[from:to] {
		if strings.TrimSpace(line) != "" {
			return k
		}
	}
	start := from - 1
	if start > 0 && strings.TrimSpace(k[start-1]) == "" {
		start--
	}
	return slices.Delete(k, start, from)
}
