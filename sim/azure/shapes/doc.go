// Package shapes holds what bodies of requests to Azure's compute service may hold, taken from the models of its SDK.
package shapes

import _ "embed" // for Compute

// Compute is a JSON object: the members of each type by name, and what each is. A scalar is "string", "bool", "int", "number" or "any",
// an enumeration "=" with its values between bars, a list "[]" and a map "{}" before what they are of; "!" is before what only
// the service sets.
//
//go:generate go run ./gen
//go:embed compute.json
var Compute []byte
