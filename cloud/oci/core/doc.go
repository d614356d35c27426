// Package core is a client of the part of Oracle's Core Services that manages instance pools, generated from what Oracle publishes.
package core

//go:generate go run ../../../hack/ociclient ../../../sim/oci/shapes/core.json client.gen.go
