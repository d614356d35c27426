// Package containerengine simulates Kubernetes Engine (OKE): clusters, node pools with their nodes, virtual node pools and work requests.
package containerengine
