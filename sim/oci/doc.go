// Package oci simulates Oracle Cloud in one region: Kubernetes Engine (OKE), instance pools with their work requests, and domains. Requests
// are signed as its SDKs sign them.
package oci
