// Package gcp simulates what Muster uses of Google Cloud: Compute Engine with instance templates, managed instance groups and their
// instances, GKE with clusters and node pools, and the token endpoint of service accounts. It speaks the wire protocol of Google's own
// clients and knows nothing of any driver.
//
// The package itself is the frontend: it signs clients in, plays faults, counts quotas of requests, keeps the state, and holds the services
// together. The services are packages of their own below it, on the core in package project.
package gcp
