package main

import (
	"debug/buildinfo"
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// The parts of an SPDX 2.3 document that a release fills.
type (
	document struct {
		SPDXVersion       string         `json:"spdxVersion"`
		DataLicense       string         `json:"dataLicense"`
		SPDXID            string         `json:"SPDXID"`
		Name              string         `json:"name"`
		DocumentNamespace string         `json:"documentNamespace"`
		CreationInfo      creationInfo   `json:"creationInfo"`
		Packages          []spdxPackage  `json:"packages"`
		Relationships     []relationship `json:"relationships"`
	}
	creationInfo struct {
		Created  string   `json:"created"`
		Creators []string `json:"creators"`
	}
	spdxPackage struct {
		SPDXID           string        `json:"SPDXID"`
		Name             string        `json:"name"`
		VersionInfo      string        `json:"versionInfo"`
		DownloadLocation string        `json:"downloadLocation"`
		FilesAnalyzed    bool          `json:"filesAnalyzed"`
		Checksums        []checksum    `json:"checksums,omitempty"`
		ExternalRefs     []externalRef `json:"externalRefs,omitempty"`
	}
	checksum struct {
		Algorithm     string `json:"algorithm"`
		ChecksumValue string `json:"checksumValue"`
	}
	externalRef struct {
		ReferenceCategory string `json:"referenceCategory"`
		ReferenceType     string `json:"referenceType"`
		ReferenceLocator  string `json:"referenceLocator"`
	}
	relationship struct {
		SPDXElementID      string `json:"spdxElementId"`
		RelationshipType   string `json:"relationshipType"`
		RelatedSPDXElement string `json:"relatedSpdxElement"`
	}
)

const documentID = "SPDXRef-DOCUMENT"

// sbom writes an SPDX document with each binary and the modules that it was built from, as the binaries themselves record them.
func (r *release) sbom() error {
	d := document{
		SPDXVersion: "SPDX-2.3", DataLicense: "CC0-1.0", SPDXID: documentID, Name: "muster-" + r.version,
		DocumentNamespace: "https://github.com/muster-project/muster/sbom/" + r.version + "/" + r.commit,
		CreationInfo:      creationInfo{Created: r.created.Format(time.RFC3339), Creators: []string{"Tool: muster-hack-release-" + r.version}},
	}
	modules := map[string]spdxPackage{}
	for _, p := range r.platforms {
		for _, command := range commands {
			if err := d.add(p.binary(command), r, modules); err != nil {
				return err
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(modules)) {
		d.Packages = append(d.Packages, modules[id])
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return r.write("muster-"+r.version+".spdx.json", append(text, '\n'))
}

// add adds a binary to the document, and what it was built from to modules.
func (d *document) add(file string, r *release, modules map[string]spdxPackage) error {
	path := filepath.Join(r.out, file)
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return err
	}
	sum, err := sha256File(path)
	if err != nil {
		return err
	}
	binary := spdxPackage{SPDXID: spdxID("File", file), Name: file, VersionInfo: r.version, DownloadLocation: "NOASSERTION",
		Checksums: []checksum{{"SHA256", sum}}}
	d.Packages = append(d.Packages, binary)
	d.Relationships = append(d.Relationships, relationship{documentID, "DESCRIBES", binary.SPDXID})
	depends := []spdxPackage{modulePackage("stdlib", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		depends = append(depends, modulePackage(m.Path, m.Version))
	}
	for _, m := range depends {
		modules[m.SPDXID] = m
		d.Relationships = append(d.Relationships, relationship{binary.SPDXID, "DEPENDS_ON", m.SPDXID})
	}
	return nil
}

// modulePackage returns the package of a Go module.
func modulePackage(path, version string) spdxPackage {
	return spdxPackage{SPDXID: spdxID("Module", path+"-"+version), Name: path, VersionInfo: version, DownloadLocation: "NOASSERTION",
		ExternalRefs: []externalRef{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")}}}
}

// outsideIDs is what identifiers of SPDX cannot hold.
var outsideIDs = regexp.MustCompile(`[^A-Za-z0-9.-]`)

func spdxID(kind, name string) string {
	return "SPDXRef-" + kind + "-" + outsideIDs.ReplaceAllString(name, "-")
}
