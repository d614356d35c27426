// Package controllers runs, straight from k8s.io/kubernetes, the controllers of kube-controller-manager that machine
// pools depend on, and the scheduler: an API server alone collects no garbage, ends no namespace, signs no certificate,
// notices no dead node and runs no Deployment.
package controllers
