// Package crd holds the custom resource definitions: ours, and those of the cluster-api kinds that the local world
// serves. They are generated from the Go types (hack/generate.sh) and carry no conversion: a client that installs them says
// where the conversion webhook is.
package crd

import "embed"

// Files are the definitions, one YAML document a file, in no folder.
//
//go:embed *_*.yaml
var Files embed.FS
