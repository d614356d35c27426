// Package containerengine is a client of Oracle's Kubernetes Engine (OKE), generated from what Oracle publishes.
package containerengine

//go:generate go run ../../../hack/ociclient ../../../sim/oci/shapes/containerengine.json client.gen.go
