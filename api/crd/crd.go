// Package crd holds the custom resource definitions: those of Muster, and those of the Cluster API kinds that the local world serves. They
// are generated from the Go types (hack/generate.sh) and have no conversion: a client that installs them adds the address of the conversion
// webhook.
package crd

import "embed"

// Files are the definitions, one YAML document a file, in no folder.
//
//go:embed *_*.yaml
var Files embed.FS
