package apiserver

import (
	"runtime/debug"

	apimachineryversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/apiserver/pkg/util/compatibility"
	basecompatibility "k8s.io/component-base/compatibility"
)

// release reports the version of the k8s.io/kubernetes module in /version. A plain "go build", without linker flags,
// would serve "v0.0.0-master+$Format:%H$", which kubectl and clusterctl cannot read.
type release struct {
	basecompatibility.MutableEffectiveVersion
}

// Info returns the response to /version.
func (r release) Info() *apimachineryversion.Info {
	i := r.MutableEffectiveVersion.Info()
	i.GitVersion, i.GitCommit, i.GitTreeState = Version(), "", "archive"
	return i
}

// Version returns the Kubernetes version that the API servers of this binary run, with the leading v.
func Version() string {
	if b, ok := debug.ReadBuildInfo(); ok {
		for _, d := range b.Deps {
			if d.Path == "k8s.io/kubernetes" {
				return d.Version
			}
		}
	}
	return "v" + compatibility.DefaultBuildEffectiveVersion().BinaryVersion().String() + ".0"
}
