package world

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	"github.com/muster-project/muster/test/explore/oracle"
)

// holdCluster pauses the Cluster of all pools, or lets it go on.
func (u *users) holdCluster(on bool) {
	w := u.world
	c := &clusterv1.Cluster{}
	if w.Objects.User.Get(w.t.Context(), ClusterKey, c) != nil || ptr.Deref(c.Spec.Paused, false) == on {
		return
	}
	if c.Spec.Paused = nil; on {
		c.Spec.Paused = ptr.To(true)
	}
	w.Must(w.Objects.User.Update(w.t.Context(), c), "pause the Cluster")
}

// held reports whether the Cluster or the infrastructure object is paused, as the process knows it.
func (p *process) held() bool {
	w := p.world
	c := &clusterv1.Cluster{}
	_, o := w.Objects.read(p.cached)
	if o == nil || p.cached.Get(w.t.Context(), ClusterKey, c) != nil {
		return false
	}
	_, paused := o.GetAnnotations()[clusterv1.PausedAnnotation]
	return paused || ptr.Deref(c.Spec.Paused, false)
}

// unwell has a MachineHealthCheck find the n-th Machine unhealthy, and leave its replacement to the owner.
func (ins *Instances) unwell(n int) {
	w := ins.world
	if w.Scenario.Machines() == nil {
		return
	}
	list := &clusterv1.MachineList{}
	w.Must(w.Objects.User.List(w.t.Context(), list, w.OfPool()...), "list Machines")
	living := slices.DeleteFunc(list.Items, func(m clusterv1.Machine) bool {
		return !m.DeletionTimestamp.IsZero() || m.Spec.ProviderID == ""
	})
	if len(living) == 0 {
		return
	}
	m := &living[n%len(living)]
	for _, of := range []string{clusterv1.MachineHealthCheckSucceededCondition, clusterv1.MachineOwnerRemediatedCondition} {
		conditions.Set(m, metav1.Condition{Type: of, Status: metav1.ConditionFalse, Reason: "Explored", Message: "played by the explorer"})
	}
	ins.requestDeletionOf(m.Spec.ProviderID)
	ins.sick[m.Name] = true
	w.Must(w.Objects.User.Status().Update(w.t.Context(), m), "mark Machine %s", m.Name)
}

// standsStill blames a write to the cloud for a pool that the process knows as paused.
func (p *process) standsStill(call string) {
	p.world.blameAll("paused", oracle.Paused(call, p.paused))
}
