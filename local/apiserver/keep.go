//go:build keep_staging

// This file is never built. It keeps two staging modules that k8s.io/kubernetes names at v0.0.0, but no package
// of this module needs, in go.mod: builds work without them, "go list -m all" (editors, scanners, update bots) does not.

package apiserver

import (
	_ "k8s.io/cri-streaming/pkg/streaming"
	_ "k8s.io/sample-apiserver/pkg/apis/wardle"
)
