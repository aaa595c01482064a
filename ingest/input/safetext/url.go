package safetext

import (
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// hiddenValue replaces credentials in a URL.
const hiddenValue = "xxxxx"

// secretKey matches the names of URL parameters that hold credentials. It is compiled
// when the first URL is shown.
var secretKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)token|secret|passw|pwd|auth|apikey|api_key|api-key|access|signature|credential|session|^key$|^sig$|^code$|^jwt$`)
})

// URL makes a URL safe to show and store: it removes the user name, password and
// fragment, and the values of parameters that hold credentials. Other file names are
// unchanged.
func URL(name string) string {
	i := strings.Index(name, "://")
	if i < 0 || strings.ContainsAny(name[:i], `/\`) {
		return name
	}
	u, err := url.Parse(name)
	if err != nil {
		// The URL is invalid: drop everything before an @ and after a ?.
		rest := name[i+3:]
		rest, _, _ = strings.Cut(rest, "?")
		return name[:i+3] + rest[strings.LastIndexByte(rest, '@')+1:]
	}
	if u.Host == "" && u.User == nil {
		return name // it has no credentials, and String would change its spelling
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	// Edit the query by hand, to keep the spelling of the other parameters.
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
