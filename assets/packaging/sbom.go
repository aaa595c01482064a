package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"ashlar/assets/project"
)

// The parts of CycloneDX 1.5 that describe the components of a program. See
// https://cyclonedx.org/docs/1.5/json/.
type (
	bom struct {
		Format       string       `json:"bomFormat"`
		Spec         string       `json:"specVersion"`
		Serial       string       `json:"serialNumber"`
		Version      int          `json:"version"`
		Metadata     bomMetadata  `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	bomMetadata struct {
		Component component `json:"component"`
	}
	component struct {
		Type       string     `json:"type"`
		Ref        string     `json:"bom-ref"`
		Name       string     `json:"name"`
		Version    string     `json:"version"`
		Licences   []licensed `json:"licenses,omitempty"`
		PURL       string     `json:"purl,omitempty"`
		Hashes     []hash     `json:"hashes,omitempty"`
		Properties []property `json:"properties,omitempty"`
	}
	// licensed has one of its fields: the id of a licence, or several with operators.
	licensed struct {
		Licence    *licenceID `json:"license,omitempty"`
		Expression string     `json:"expression,omitempty"`
	}
	licenceID struct {
		ID string `json:"id"`
	}
	hash struct {
		Algorithm string `json:"alg"`
		Content   string `json:"content"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	dependency struct {
		Ref  string   `json:"ref"`
		Uses []string `json:"dependsOn,omitempty"`
	}
)

// licensedBy returns CycloneDX's form of an SPDX expression.
func licensedBy(expression string) []licensed {
	switch {
	case expression == "":
		return nil
	case strings.Contains(expression, " "):
		return []licensed{{Expression: expression}}
	}
	return []licensed{{Licence: &licenceID{expression}}}
}

// sbom lists the components of a program, from the linker's build information. The serial
// number is derived from the program's bytes, so equal programs have equal numbers.
func sbom(p *program, version string) ([]byte, error) {
	sum := sha256.Sum256(p.binary)
	id := sum
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // a UUID of version 8: custom content
	b := bom{
		Format: "CycloneDX", Spec: "1.5", Version: 1,
		Serial: fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[0:4], id[4:6], id[6:8], id[8:10], id[10:16]),
		Metadata: bomMetadata{Component: component{
			Type: "application", Ref: "ashlar", Name: "ashlar", Version: version, Licences: licensedBy(project.Licence),
			Hashes:     []hash{{"SHA-256", fmt.Sprintf("%x", sum)}},
			Properties: []property{{"go:os", p.os}, {"go:arch", p.arch}},
		}},
	}
	std := component{Type: "library", Name: "std", Version: strings.TrimPrefix(p.info.GoVersion, "go")}
	std.Licences = licensedBy(p.licences["std"])
	std.PURL = "pkg:golang/std@" + std.Version
	std.Ref = std.PURL
	b.Components = append(b.Components, std)
	for _, m := range modules(p.info) {
		purl := "pkg:golang/" + strings.ReplaceAll(url.PathEscape(m.Path), "%2F", "/") + "@" + strings.ReplaceAll(url.PathEscape(m.Version), "+", "%2B")
		c := component{Type: "library", Ref: purl, Name: m.Path, Version: m.Version, Licences: licensedBy(p.licences[m.Path]), PURL: purl}
		if m.Sum != "" { // as in go.sum
			c.Properties = []property{{"go:sum", m.Sum}}
		}
		b.Components = append(b.Components, c)
	}
	root := dependency{Ref: "ashlar"}
	for _, c := range b.Components {
		root.Uses = append(root.Uses, c.Ref)
	}
	b.Dependencies = []dependency{root}
	out, err := json.MarshalIndent(b, "", "  ")
	return append(out, '\n'), err
}
