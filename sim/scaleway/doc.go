// Package scaleway simulates Scaleway's Kubernetes API, v1: clusters of Kapsule and Kosmos with pools and nodes, over JSON and HTTP. It is
// written from the published OpenAPI document and from recorded traffic of the service; Beliefs lists what neither shows.
package scaleway
