package machinepool

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/muster-project/muster/kube/machinepool/contract"
	"github.com/muster-project/muster/kube/machinepool/status"
)

// pass is the state of one reconciliation. It holds what the steps hand on to each other and nothing that outlives it.
type pass struct {
	now time.Time
	// pool is changed by the steps in memory; before is what was read.
	pool, before *clusterv1.MachinePool
	// cluster is nil when the Cluster that the pool names does not exist.
	cluster *clusterv1.Cluster
	facts   status.Facts
	// bootstrap and infra are the referenced objects.
	bootstrap, infra reference
	// machineKind is the kind of the infrastructure's objects for single machines, of which each gets a Machine, which then
	// looks after its Node; empty in a plain pool.
	machineKind string
	// machines are the Machines of the pool as they were read, members those of this pass by the meaning of their provider ID.
	machines []*clusterv1.Machine
	members  map[string]*clusterv1.Machine
	// restored is true if the pool listed instances before its status named any: the status was lost in a move or a restore.
	restored bool
	// joinedBefore are the names of the Nodes that are older than the MachinePool: they had joined before it was moved or restored.
	joinedBefore map[string]bool
	events       []happened
}

// happened is something to tell: what was done, at once, and what the status says, once it has been written down.
type happened struct {
	kind, reason, message string
	// about is the first object that the event is about, nil if it is about the pool alone.
	about *corev1.ObjectReference
}

func (p *pass) event(kind, reason, format string, args ...any) {
	p.events = append(p.events, happened{kind: kind, reason: reason, message: fmt.Sprintf(format, args...)})
}

// eventOn records a normal event that names other objects; about is the first of them. The events API takes two events of one reason for the
// same event, and drops the text of the second, unless they are related to different objects.
func (p *pass) eventOn(about corev1.ObjectReference, reason, format string, args ...any) {
	p.event(corev1.EventTypeNormal, reason, format, args...)
	p.events[len(p.events)-1].about = &about
}

func machineReference(namespace, name string) corev1.ObjectReference {
	return corev1.ObjectReference{APIVersion: clusterv1.GroupVersion.String(), Kind: "Machine", Namespace: namespace, Name: name}
}

func nodeReference(name string) corev1.ObjectReference {
	return corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: name}
}

func (p *pass) deleting() bool { return !p.pool.DeletionTimestamp.IsZero() }

func (p *pass) clusterKey() client.ObjectKey {
	return client.ObjectKey{Namespace: p.pool.Namespace, Name: p.pool.Spec.ClusterName}
}

// newPass reads the pool's Cluster and what is known before any step.
func (r *Reconciler) newPass(ctx context.Context, pool *clusterv1.MachinePool) (*pass, error) {
	p := &pass{now: r.now(), pool: pool, before: pool.DeepCopy(), members: map[string]*clusterv1.Machine{}}
	cluster := &clusterv1.Cluster{}
	switch err := r.Client.Get(ctx, p.clusterKey(), cluster); {
	case err == nil:
		p.cluster = cluster
	case !apierrors.IsNotFound(err):
		return nil, fmt.Errorf("read Cluster %s: %w", p.clusterKey(), err)
	}
	init := pool.Status.Initialization
	p.restored = len(pool.Spec.ProviderIDList) > 0 && !ptr.Deref(init.InfrastructureProvisioned, false)
	p.facts = status.Facts{
		Cluster:    p.clusterKey().String(),
		NoCluster:  p.cluster == nil,
		Paused:     pausedBecause(p.cluster, pool),
		Desired:    pool.Spec.Replicas,
		External:   annotations.ReplicasManagedByExternalAutoscaler(pool),
		DataSecret: ptr.Deref(pool.Spec.Template.Spec.Bootstrap.DataSecretName, ""),
		Bootstrap:  status.Source{Once: init.BootstrapDataSecretCreated != nil && *init.BootstrapDataSecretCreated},
		Infrastructure: status.Source{
			Kind: pool.Spec.Template.Spec.InfrastructureRef.Kind, Name: pool.Spec.Template.Spec.InfrastructureRef.Name,
			Once: init.InfrastructureProvisioned != nil && *init.InfrastructureProvisioned,
		},
	}
	if p.deleting() {
		p.facts.Deletion = &status.Cause{}
	}
	return p, nil
}

// pausedBecause says why the pool is paused, in the words that the ecosystem uses; nothing when it is not.
func pausedBecause(cluster *clusterv1.Cluster, pool *clusterv1.MachinePool) string {
	var why []string
	if cluster != nil && cluster.Spec.Paused != nil && *cluster.Spec.Paused {
		why = append(why, "Cluster spec.paused is set to true")
	}
	if annotations.HasPaused(pool) {
		why = append(why, "MachinePool has the cluster.x-k8s.io/paused annotation")
	}
	return strings.Join(why, ", ")
}

// observePause reports an infrastructure object that is not paused with the pool: by the contract each object is paused by itself, or all
// by their Cluster. It changes nothing, and an object that can't be read says nothing.
func (r *Reconciler) observePause(ctx context.Context, p *pass) result {
	ref := p.pool.Spec.Template.Spec.InfrastructureRef
	if p.cluster == nil || isTrue(p.cluster.Spec.Paused) || !ref.IsDefined() {
		return goOn()
	}
	found, outcome := r.read(ctx, p, contract.InfraMachinePool(), ref, &status.Source{})
	if o := found.object; o != nil && !annotations.HasPaused(o) {
		p.facts.Paused += fmt.Sprintf("; %s %s is not paused, and its machines are still created, replaced and removed: "+
			"set the annotation on it too, or spec.paused of Cluster %s", ref.Kind, ref.Name, p.cluster.Name)
	}
	return result{again: outcome.again}
}

// step is one part of a pass.
type step func(ctx context.Context, p *pass) result

// steps of a pass, in order. A paused pool is only told about; a pool without its Cluster can only be deleted.
func (r *Reconciler) steps(p *pass) []step {
	switch {
	case p.facts.Paused != "":
		return []step{r.observePause}
	case p.deleting() && !controllerutil.ContainsFinalizer(p.pool, clusterv1.MachinePoolFinalizer):
		return nil
	case p.deleting():
		return []step{r.readBootstrap, r.readInfrastructure, r.readMachines, r.followNodes, r.remove}
	case p.cluster == nil:
		return []step{r.claim}
	default:
		return []step{r.claim, r.compareVersion, r.followBootstrap, r.followInfrastructure, r.readMachines, r.followNodes}
	}
}

func (p *pass) run(ctx context.Context, steps []step) result {
	all := goOn()
	for _, do := range steps {
		all = all.join(do(ctx, p))
		if all.stop {
			break
		}
	}
	return all
}
