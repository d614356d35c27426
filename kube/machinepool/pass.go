package machinepool

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/muster-project/muster/kube/machinepool/contract"
	"github.com/muster-project/muster/kube/machinepool/poolevents"
	"github.com/muster-project/muster/kube/machinepool/reference"
	"github.com/muster-project/muster/kube/machinepool/status"
	"github.com/muster-project/muster/kube/steps"
)

// pass is one reconciliation. The steps pass on what they have read; packages below this one get values, never the pass.
type pass struct {
	now time.Time
	// cluster is nil if the Cluster that the pool names does not exist.
	cluster *clusterv1.Cluster
	// stored is the pool as it is stored, pool the pool as it has to be; write writes the difference.
	stored, pool *clusterv1.MachinePool
	// bootstrap, infrastructure and machines are what the pool refers to and its Machines. Each is set by the step that reads it.
	bootstrap, infrastructure reference.Found
	machines                  []*clusterv1.Machine
	// facts is what the status is derived from. Each fact is set by one step.
	facts  status.Facts
	events []poolevents.Event
}

// newPass returns a pass with what is known before any step.
func newPass(pool *clusterv1.MachinePool, cluster *clusterv1.Cluster, now time.Time) *pass {
	template, initialized := &pool.Spec.Template.Spec, pool.Status.Initialization
	p := &pass{now: now, cluster: cluster, stored: pool.DeepCopy(), pool: pool}
	p.facts = status.Facts{
		Cluster:                   client.ObjectKey{Namespace: pool.Namespace, Name: pool.Spec.ClusterName}.String(),
		NoCluster:                 cluster == nil,
		Paused:                    pausedBy(cluster, pool),
		Desired:                   pool.Spec.Replicas,
		ReplicasManagedExternally: annotations.ReplicasManagedByExternalAutoscaler(pool),
		DataSecret:                ptr.Deref(template.Bootstrap.DataSecretName, ""),
		Bootstrap:                 status.Source{Once: ptr.Deref(initialized.BootstrapDataSecretCreated, false)},
		Infrastructure: status.Source{Kind: template.InfrastructureRef.Kind, Name: template.InfrastructureRef.Name,
			Once: ptr.Deref(initialized.InfrastructureProvisioned, false)},
	}
	if p.deleting() {
		p.facts.Deletion = &status.Cause{}
	}
	return p
}

func (p *pass) deleting() bool { return !p.pool.DeletionTimestamp.IsZero() }

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

// steps returns the steps of a pass in order. For a paused pool only the pause is reported; a pool without its Cluster can only be deleted.
func (r *Reconciler) steps(p *pass) []steps.Step[*pass] {
	switch {
	case p.facts.Paused != "":
		return []steps.Step[*pass]{r.observePause}
	case p.deleting() && !controllerutil.ContainsFinalizer(p.pool, clusterv1.MachinePoolFinalizer):
		return nil
	case p.deleting():
		return []steps.Step[*pass]{r.readBootstrap, r.readInfrastructure, r.readMachines, r.syncMachinesAndNodes, r.remove}
	case p.cluster == nil:
		return []steps.Step[*pass]{r.claim}
	default:
		return []steps.Step[*pass]{r.claim, r.compareVersion, r.followBootstrap, r.followInfrastructure, r.readMachines, r.syncMachinesAndNodes}
	}
}

// observePause reports an infrastructure object that is not paused with the pool: by the contract each object is paused by itself, or all
// by their Cluster. It changes nothing. An object that cannot be read is not reported.
func (r *Reconciler) observePause(ctx context.Context, p *pass) steps.Result {
	ref := p.pool.Spec.Template.Spec.InfrastructureRef
	if p.cluster == nil || ptr.Deref(p.cluster.Spec.Paused, false) || !ref.IsDefined() {
		return steps.Continue()
	}
	found, outcome := r.references().Read(ctx, p.pool, p.cluster, contract.InfraMachinePool(), ref)
	if o := found.Object; o != nil && !annotations.HasPaused(o) {
		p.facts.Paused += fmt.Sprintf("; %s is not paused, and its machines are still created, replaced and removed: "+
			"set the annotation on it too, or spec.paused of Cluster %s", found.Source, p.cluster.Name)
	}
	return steps.RequeueAfter(outcome.After)
}
