package safetext

import (
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// hiddenValue replaces credentials in a URL.
const hiddenValue = "xxxxx"

// secretKey are parameters of URLs that let in. It is compiled where a URL is there.
var secretKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)token|secret|passw|pwd|auth|apikey|api_key|api-key|access|signature|credential|session|^key$|^sig$|^code$|^jwt$`)
})

// URL makes a URL fit to be shown and kept: without the name and password of
// whoever asks, and without the values of parameters that let in. Other names
// of files stay as they are.
func URL(name string) string {
	i := strings.Index(name, "://")
	if i < 0 || strings.ContainsAny(name[:i], `/\`) {
		return name
	}
	u, err := url.Parse(name)
	if err != nil {
		// The parts cannot be told apart: nothing before an @ nor behind a ? is kept.
		rest := name[i+3:]
		rest, _, _ = strings.Cut(rest, "?")
		return name[:i+3] + rest[strings.LastIndexByte(rest, '@')+1:]
	}
	if u.Host == "" && u.User == nil {
		return name // of which nothing lets in, and which would be written another way
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	// By hand, so that all else stays as it was written.
	parts := strings.Split(u.RawQuery, "&")
	for k, part := range parts {
		key, _, has := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(key); err == nil && has && secretKey().MatchString(plain) {
			parts[k] = key + "=" + hiddenValue
		}
	}
	u.RawQuery = strings.Join(parts, "&")
	return u.String()
}
