// Package shapes holds what requests to GKE and to Compute Engine may hold, taken from their published discovery documents, and checks
// requests against it.
package shapes

import _ "embed" // for the shapes

// Container is a JSON object: the members of each type by name, and what each is. A scalar is "string", "bool", "int", "int64", "number" or
// "any", an enumeration "=" with its values between bars, a list "[]" and a map "{}" before what they are of; "!" is before what only the
// service sets, "?" before a scalar that is also written where it is zero.
//
//go:generate go run ./gen
//go:embed container.json
var Container []byte

// Compute is the same for Compute Engine.
//
//go:embed compute.json
var Compute []byte
