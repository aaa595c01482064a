package panel

import (
	"testing"

	"ashlar/ingest/query/search"
)

// TestPackagePattern checks that the pattern of a package matches its functions, not those of
// packages whose names only begin or end alike.
func TestPackagePattern(t *testing.T) {
	for pkg, names := range map[string][2][]string{
		"main":          {{"main.run", "main.(*T).Close"}, {"domain.run", "mainline.run", "x.main"}},
		"encoding/json": {{"encoding/json.Marshal"}, {"encoding/jsontext.Marshal", "my/encoding/json.Marshal"}},
		"std":           {{"std::sort<int*>(int*, int*)"}, {"stdx::sort", "mystd::sort"}},
		"a+b(c)":        {{"a+b(c).f"}, {"aab(c).f"}},
	} {
		p, err := search.Parse(PackagePattern(pkg))
		if err != nil {
			t.Errorf("%s: %v", pkg, err)
			continue
		}
		for i, all := range names {
			for _, name := range all {
				if got := p.Match(name); got != (i == 0) {
					t.Errorf("the pattern of %s matches %s: %v", pkg, name, got)
				}
			}
		}
	}
}
