package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// writeBill writes the bill of materials, CycloneDX 1.6 as JSON: the programs of all
// targets with their checksums, and the modules that the programs say they have.
func writeBill(dir string, src source, s shared, builds []builtTarget) error {
	used := map[string]string{"std": strings.TrimPrefix(src.goVersion, "go")} // version by path
	var binaries []cdx.Component
	for _, b := range builds {
		for _, name := range programs {
			for _, dep := range b.info[name].Deps {
				used[dep.Path] = dep.Version
			}
			sum := sha256.Sum256(b.files[name])
			binaries = append(binaries, cdx.Component{Type: cdx.ComponentTypeApplication, BOMRef: b.target.name() + "/" + name,
				Name: name, Version: src.version, Description: b.target.String(),
				Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}}})
		}
	}

	components := binaries
	var refs []string
	for _, path := range slices.Sorted(maps.Keys(used)) {
		i := slices.IndexFunc(s.modules, func(m linkedModule) bool { return m.path == path && m.version == used[path] })
		if i < 0 {
			return fmt.Errorf("%s %s is linked in, but go list does not name its licence", path, used[path])
		}
		c := moduleComponent(s.modules[i])
		refs = append(refs, c.BOMRef)
		components = append(components, c)
	}

	main := cdx.Component{Type: cdx.ComponentTypeApplication, BOMRef: "symkit", Name: "symkit", Version: src.version,
		PackageURL: "pkg:generic/symkit@" + src.version, Licenses: &cdx.Licenses{{License: &cdx.License{ID: "BSD-3-Clause"}}},
		Properties: &[]cdx.Property{{Name: "git:commit", Value: src.commit}}}
	bom := cdx.NewBOM()
	bom.SerialNumber = serialNumber(src)
	bom.Metadata = &cdx.Metadata{Timestamp: src.date.Format(time.RFC3339), Component: &main}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: main.BOMRef, Dependencies: &refs}}

	var text bytes.Buffer
	err := cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "symkit-"+src.number()+".cdx.json"), text.Bytes(), 0o666)
}

func moduleComponent(m linkedModule) cdx.Component {
	purl := "pkg:golang/" + m.path + "@" + m.version
	c := cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: purl, Name: m.path, Version: m.version, PackageURL: purl,
		Licenses: &cdx.Licenses{{Expression: m.licence}}}
	if m.sum != "" {
		c.Properties = &[]cdx.Property{{Name: "go:sum", Value: m.sum}}
	}
	return c
}

// serialNumber returns the number of the bill: the same for each build of a commit, in
// the form of a UUID with data of the maker (RFC 9562 §5.8).
func serialNumber(src source) string {
	sum := sha256.Sum256([]byte("symkit " + src.version + " " + src.commit))
	sum[6] = sum[6]&0x0f | 0x80
	sum[8] = sum[8]&0x3f | 0x80
	x := hex.EncodeToString(sum[:16])
	return "urn:uuid:" + x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:]
}
