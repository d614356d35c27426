package main

import (
	"github.com/muster-project/muster/hack/shapes/awssdk"
	"github.com/muster-project/muster/hack/shapes/azuresdk"
	"github.com/muster-project/muster/hack/shapes/ocisdk"
	"github.com/muster-project/muster/sim/core/shapes"
)

// readers are the forms of descriptions that can be read: sources of SDKs by the folder of the module, documents by their file.
var readers = map[string]func(path string) (*shapes.Service, error){
	"awssdk":    awssdk.Read,
	"azuresdk":  azuresdk.Read,
	"discovery": readDiscovery,
	"ocisdk":    ocisdk.Read,
	"openapi":   readOpenAPI,
}

// structWriters write the types of operations as Go structs, from the folder of a module: of types that are in no request the fields that
// code names, of the whole ones all.
var structWriters = map[string]func(folder string, operations, whole []string, named map[string]bool) ([]byte, error){
	"awssdk": awssdk.Structs,
}
