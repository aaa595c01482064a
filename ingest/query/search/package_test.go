package search

import (
	"testing"

	"ashlar/ingest/model/recording"
)

// TestPackage checks that package: with a name matches its functions and those of
// packages below it, not those of packages whose names only begin or end alike.
func TestPackage(t *testing.T) {
	for pkg, names := range map[string][2][]string{
		"main":          {{"main.run", "main.(*T).Close"}, {"domain.run", "mainline.run", "x.main"}},
		"encoding/json": {{"encoding/json.Marshal", "encoding/json/v2.Marshal"}, {"encoding/jsontext.Marshal", "my/encoding/json.Marshal"}},
		"std":           {{"std::sort<int*>(int*, int*)"}, {"stdx::sort", "mystd::sort"}},
		"a+b(c)":        {{"a+b(c).f"}, {"aab(c).f"}},
	} {
		p, err := Parse(InPackage.Of(pkg))
		if err != nil {
			t.Errorf("%s: %v", pkg, err)
			continue
		}
		for i, all := range names {
			for _, name := range all {
				if got := p.MatchFunction(&recording.Function{Name: name, Module: pkg + ".so"}); got != (i == 0) {
					t.Errorf("the pattern of %s matches %s: %v", pkg, name, got)
				}
			}
		}
	}
}
