package gcpmanaged

import (
	"cmp"
	"fmt"
	"math"

	"k8s.io/utils/ptr"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/stored"
	"github.com/muster-project/muster/pool"
)

// The reasons for which the cluster takes no node pools. The first is the ecosystem's.
const (
	reasonWaitControlPlane = "WaitingForGKEControlPlane"
	reasonAutopilot        = "AutopilotCluster"
)

// bound sets the bounds of GKE's autoscaler. Those of each zone bound the pool only if the zones are named: otherwise they are the
// cluster's, which GKE knows.
func bound(t *infrapool.Translation[*gcpv1.ManagedMachinePoolSource], spec *gcpv1.GCPManagedMachinePoolSpec) {
	s := spec.Scaling
	switch zones := len(spec.NodeLocations); {
	case s.TotalMinCount != nil || s.TotalMaxCount != nil:
		t.Min, t.Max = int(ptr.Deref(s.TotalMinCount, 0)), int(ptr.Deref(s.TotalMaxCount, math.MaxInt32))
		t.MinField, t.MaxField = "spec.scaling.totalMinCount", "spec.scaling.totalMaxCount"
	case zones > 0:
		t.Min = int(ptr.Deref(s.MinCount, 0)) * zones
		if s.MaxCount != nil {
			t.Max = int(*s.MaxCount) * zones
		}
		t.MinField, t.MaxField = "spec.scaling.minCount", "spec.scaling.maxCount"
	}
}

// managedCluster says where the node pool is: as the cluster's objects have it, or else as the object remembers it.
func managedCluster(in infrapool.Inputs) (gcpv1.ManagedClusterView, error) {
	known, unknown := gcpv1.ManagedClusterViewRemembered(in.Resolved, stored.Annotation)
	view := known
	if in.ControlPlane != nil {
		read, err := gcpv1.ManagedClusterViewOf(in.ControlPlane, in.Cluster)
		if err != nil {
			return known, err
		}
		view = read
		view.Name = cmp.Or(view.Name, known.Name)
		view.View.Endpoints = known.View.Endpoints
	}
	if in.InfraCluster != nil {
		read, err := gcpv1.ClusterViewOf(in.InfraCluster)
		if err != nil {
			return view, err
		}
		view.Complete(read)
	}
	view.View.ClusterName = cmp.Or(in.Cluster, view.View.ClusterName)
	switch {
	case in.ControlPlane != nil && (view.Name == "" || view.Location == "" || view.View.Project == ""):
		return view, &infrapool.NotYet{Cause: pool.Cause{Reason: reasonWaitControlPlane, Message: fmt.Sprintf(
			"%s %s has no spec.project, spec.location or spec.clusterName yet", in.ControlPlane.GetKind(), in.ControlPlane.GetName())}}
	case in.ControlPlane == nil && unknown != nil:
		return view, unknown
	}
	return view, nil
}

// blocked returns why the cluster takes no new node pools; nil if it takes them.
func blocked(in infrapool.Inputs, view gcpv1.ManagedClusterView) *pool.Cause {
	switch {
	case in.ControlPlane == nil:
		return nil
	case view.Autopilot:
		return &pool.Cause{Reason: reasonAutopilot, Message: fmt.Sprintf(
			"%s %s has spec.enableAutopilot: GKE keeps the nodes of Autopilot clusters itself; delete the MachinePool", in.ControlPlane.GetKind(),
			in.ControlPlane.GetName())}
	case !view.View.Ready:
		return &pool.Cause{Reason: reasonWaitControlPlane, Message: fmt.Sprintf("%s %s is not ready yet", in.ControlPlane.GetKind(),
			in.ControlPlane.GetName())}
	}
	return nil
}

// strategy returns the strategy for machines that are stale only because of a restart: as many at once as GKE replaces in an upgrade.
func strategy(u *gcpv1.UpgradeSettings) *pool.Strategy {
	s := &pool.Strategy{
		MaxSurge: pool.IntOrPercent{Value: 1}, SurgeField: "spec.upgradeSettings.maxSurge",
		UnavailableField: "spec.upgradeSettings.maxUnavailable",
	}
	if u == nil || u.MaxSurge == nil && u.MaxUnavailable == nil {
		return s
	}
	s.MaxSurge.Value, s.MaxUnavailable.Value = int(ptr.Deref(u.MaxSurge, 0)), int(ptr.Deref(u.MaxUnavailable, 0))
	if s.MaxSurge.Value == 0 && s.MaxUnavailable.Value == 0 {
		s.MaxSurge.Value = 1
	}
	return s
}
