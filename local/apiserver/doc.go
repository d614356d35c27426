// Package apiserver runs real Kubernetes API servers inside this process: one embedded etcd, any number of
// kube-apiservers on it (each with its own key prefix, certificate authority and port), and what a client needs to reach
// them. Everything lives below one directory and is found again there after a crash.
package apiserver
