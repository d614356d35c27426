package world

import (
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/test/explore/script"
)

// Plane is the control plane of a managed cluster, with what its own provider does for it.
type Plane struct {
	World *World
	// Minor is the minor version that the control plane is to have, Patch the end of the version of control planes and pools.
	Minor int
	Patch string
	// Object returns the control plane as a user applies it.
	Object func() *unstructured.Unstructured
	// Put creates the cluster in the cloud, or brings it a step towards its version. It returns the version that the cluster has, and
	// whether nothing is left to do.
	Put func() (version string, done bool)
}

// Version returns the version that the control plane is to have.
func (p *Plane) Version() string { return Minor(p.Minor) + p.Patch }

// Next returns the minor version to bring a cluster of a version to: the clouds take one minor version at a time.
func (p *Plane) Next(version string) int { return min(p.Minor, MinorOf(version)+1) }

// MinorOf returns the number of the minor version of a version.
func MinorOf(version string) int {
	n, _ := strconv.Atoi(strings.Split(version+"..", ".")[1]) // what is none is zero
	return n
}

// SetUp has the cluster created once its objects are there.
func (p *Plane) SetUp() { p.World.At(time.Now().Add(time.Second), p.Provide) }

// Provide does what the provider of the control plane does, until it is ready.
func (p *Plane) Provide() {
	w := p.World
	version, done := p.Put()
	if !done {
		w.At(time.Now().Add(again), p.Provide)
		return
	}
	is := p.Object()
	w.Must(w.Objects.User.Get(w.Context(), ClusterKey, is), "read the control plane")
	w.Must(unstructured.SetNestedMap(is.Object, map[string]any{"ready": true, "version": "v" + version}, "status"), "set the status")
	w.Must(w.Objects.User.Update(w.Context(), is), "tell that the control plane is ready")
}

// Upgrade has a user bring the control plane to the next minor version, and the pool after it, or the pool alone to that of its control
// plane.
func (p *Plane) Upgrade(e script.Event) {
	w := p.World
	if p.Minor < LastMinor && e.N%3 > 0 {
		p.Minor++
		is := p.Object()
		w.Must(w.Objects.User.Get(w.Context(), ClusterKey, is), "read the control plane")
		is.Object["spec"] = p.Object().Object["spec"]
		w.Must(w.Objects.User.Update(w.Context(), is), "upgrade the control plane")
		p.Provide()
	}
	if e.M%3 > 0 {
		p.Follow()
	}
}

// Follow has a user bring the pool to the version of its control plane.
func (p *Plane) Follow() {
	p.World.Objects.EditPool(func(mp *clusterv1.MachinePool) { mp.Spec.Template.Spec.Version = "v" + p.Version() })
}
