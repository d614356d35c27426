// Package shapes holds what bodies of requests to Azure's compute and container services may hold, taken from the models of its SDK.
package shapes

import _ "embed" // for Compute and ContainerService

// Compute is a JSON object: the members of each type by name, and what each is. A scalar is "string", "bool", "int", "number" or "any",
// an enumeration "=" with its values between bars, a list "[]" and a map "{}" before what they are of; "!" is before what only
// the service sets.
//
//go:generate go run ./gen
//go:embed compute.json
var Compute []byte

// ContainerService is the same for Microsoft.ContainerService in the version that the SDK speaks. Members of later versions are added by
// the simulator.
//
//go:embed containerservice.json
var ContainerService []byte
