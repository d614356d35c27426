// Package workrequests is a client of Oracle's Work Requests, which tell why instances are not launched. It is generated from what Oracle
// publishes.
package workrequests

//go:generate go run ../../../hack/ociclient ../../../sim/oci/shapes/workrequests.json client.gen.go
