package machinepool

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/machinepool/members"
	"github.com/muster-project/muster/kube/machinepool/nodesync"
	"github.com/muster-project/muster/kube/machinepool/reference"
	"github.com/muster-project/muster/kube/machinepool/status"
	"github.com/muster-project/muster/kube/skew"
)

// facts holds the observations of a pass. They are complete before the first step, and steps get them by value: effects and later findings
// of a step are in progress.
type facts struct {
	now time.Time
	// cluster is nil if the Cluster that the pool names does not exist.
	cluster *clusterv1.Cluster
	// controlPlane is that of the Cluster; its zero value is unknown.
	controlPlane skew.ControlPlane
	// status is the part of the facts that the status is derived from.
	status status.Facts
	// bootstrap and infrastructure are the referenced objects as they were read. A step may have changed the objects since.
	bootstrap, infrastructure reference.Found
	// data is the data secret that the bootstrap configuration reports.
	data reference.BootstrapData
	// providerIDs are the instances that the pool has to list.
	providerIDs []string
	// machines are the Machines of the pool; machinesRead is false if they could not be read.
	machines     []*clusterv1.Machine
	machinesRead bool
	// members are the machines in pairs with the infrastructure machines.
	members pairs
	// nodes are the Nodes of the pool's instances, and claimed the Nodes that the pool has claimed.
	nodes   nodesync.FoundNodes
	claimed []corev1.Node
	// servingOutside are the keys of instances that have Machines, are not in the pool's list, and whose Nodes are Ready; outsideRead
	// is false if they could not be read.
	servingOutside map[string]bool
	outsideRead    bool
}

// pairs are the Machines of a pool in pairs with its infrastructure machines.
type pairs struct {
	all []members.Member
	// kind is the kind of the infrastructure machines if all of them could be read; otherwise it is empty, and problem is the reason.
	kind    schema.GroupVersionKind
	problem string
}

// known returns the facts that the pool and its Cluster contain.
func known(pool *clusterv1.MachinePool, cluster *clusterv1.Cluster, now time.Time) facts {
	template, initialized := &pool.Spec.Template.Spec, pool.Status.Initialization
	return facts{
		now: now, cluster: cluster, providerIDs: pool.Spec.ProviderIDList,
		bootstrap: reference.Found{Source: status.Source{Once: ptr.Deref(initialized.BootstrapDataSecretCreated, false)}},
		infrastructure: reference.Found{Source: status.Source{Kind: template.InfrastructureRef.Kind, Name: template.InfrastructureRef.Name,
			Once: ptr.Deref(initialized.InfrastructureProvisioned, false)}},
		status: status.Facts{
			Cluster:                   client.ObjectKey{Namespace: pool.Namespace, Name: pool.Spec.ClusterName}.String(),
			NoCluster:                 cluster == nil,
			Paused:                    pausedBy(cluster, pool),
			Deleting:                  !pool.DeletionTimestamp.IsZero(),
			Desired:                   pool.Spec.Replicas,
			ReplicasManagedExternally: annotations.ReplicasManagedByExternalAutoscaler(pool),
			DataSecret:                ptr.Deref(template.Bootstrap.DataSecretName, ""),
		},
	}
}

// claimable reports whether the pool is labelled and gets a finalizer: it is neither paused nor being deleted.
func (f facts) claimable() bool { return f.status.Paused == "" && !f.status.Deleting }

// hasSteps reports whether the pass of a pool reads and does more than its pause needs. A pool without its Cluster can only be deleted.
func (f facts) hasSteps(pool *clusterv1.MachinePool) bool {
	return f.status.Paused == "" && !gone(pool) && (f.cluster != nil || f.status.Deleting)
}

// machineKind returns the kind of the infrastructure machines, empty if the infrastructure object reports none: then the pool has no
// Machines.
func (f facts) machineKind() string {
	if f.infrastructure.Object == nil {
		return ""
	}
	return reference.NestedString(f.infrastructure.Object, "status", "infrastructureMachineKind")
}

// hasMachines reports whether the pool has Machines, or has to have some.
func (f facts) hasMachines() bool { return f.machineKind() != "" || len(f.machines) > 0 }

// clusterOf returns the Cluster of a pool, nil if it does not exist.
func clusterOf(ctx context.Context, r client.Reader, pool *clusterv1.MachinePool) (*clusterv1.Cluster, error) {
	cluster, key := &clusterv1.Cluster{}, client.ObjectKey{Namespace: pool.Namespace, Name: pool.Spec.ClusterName}
	switch err := r.Get(ctx, key, cluster); {
	case err == nil:
		return cluster, nil
	case apierrors.IsNotFound(err):
		return nil, nil
	default:
		return nil, fmt.Errorf("read Cluster %s: %w", key, err)
	}
}

// pausedBy returns why a pool is paused, in the words that Cluster API uses; empty if it is not.
func pausedBy(cluster *clusterv1.Cluster, pool *clusterv1.MachinePool) string {
	var reasons []string
	if cluster != nil && ptr.Deref(cluster.Spec.Paused, false) {
		reasons = append(reasons, "Cluster spec.paused is set to true")
	}
	if annotations.HasPaused(pool) {
		reasons = append(reasons, "MachinePool has the cluster.x-k8s.io/paused annotation")
	}
	return strings.Join(reasons, ", ")
}
