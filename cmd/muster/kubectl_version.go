package main

import (
	"runtime/debug"
	"strings"
	"sync/atomic"
	_ "unsafe" // for the link to a variable of another package
)

// kubectlGitVersion is the variable that kubectl takes its own version from. Release builds of kubectl set it by a linker
// flag; "go run" and "go install" have none to give, and with what the variable holds then "kubectl version" fails.
//
//go:linkname kubectlGitVersion k8s.io/component-base/version.dynamicGitVersion
var kubectlGitVersion atomic.Value

// setKubectlVersion has kubectl know that it is the release which is built in.
func setKubectlVersion() {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return
	}
	for _, d := range info.Deps {
		if d.Path == "k8s.io/kubectl" {
			// The libraries' v0.36.3 is Kubernetes v1.36.3.
			kubectlGitVersion.Store(strings.Replace(d.Version, "v0.", "v1.", 1))
		}
	}
}
