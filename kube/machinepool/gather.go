package machinepool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/control"
	"github.com/muster-project/muster/kube/machinepool/contract"
	"github.com/muster-project/muster/kube/machinepool/members"
	"github.com/muster-project/muster/kube/machinepool/nodesync"
	"github.com/muster-project/muster/kube/machinepool/reference"
	"github.com/muster-project/muster/kube/nodes"
)

// gatherer reads with the clients of a Reconciler.
type gatherer struct {
	client     client.Client
	connector  nodesync.Connector
	members    members.Reader
	objects    reference.ObjectReader
	references reference.Reader
}

// gathering collects the facts while gather reads them.
type gathering struct {
	facts facts
	// pool is the pool with the instances that it has to list. It is not written.
	pool *clusterv1.MachinePool
}

// gather reads what the steps of a pass rest on and what the status is derived from, and writes nothing: what a removal needs to be sure
// of, it reads again itself. It returns the facts as far as they could be read.
func (r *Reconciler) gather(ctx context.Context, f facts, pool *clusterv1.MachinePool) (facts, control.Result) {
	read := *pool // nothing of it but the list of provider IDs is set, and that as a whole
	g := &gathering{facts: f, pool: &read}
	reader := gatherer{r.Client, r.connector(), r.members(), r.objects(), r.references()}
	outcome := control.Run(ctx, g, reader.reads(f, pool))
	return g.facts, outcome
}

// reads returns what is read for a pass, in order. Of a paused pool only the pause is observed; a pool without its Cluster can only be
// deleted.
func (r gatherer) reads(f facts, pool *clusterv1.MachinePool) []control.Step[*gathering] {
	machines := []control.Step[*gathering]{r.readMachines, r.readNodes, r.readMembers, r.readClaimed}
	switch {
	case f.status.Paused != "":
		return []control.Step[*gathering]{r.observePause}
	case !f.hasSteps(pool):
		return nil
	case f.status.Deleting:
		return append([]control.Step[*gathering]{r.readBootstrap, r.readInfrastructure}, machines...)
	default:
		return append([]control.Step[*gathering]{r.compareVersion, r.readBootstrap, r.readData, r.readInfrastructure}, machines...)
	}
}

// observePause observes whether the infrastructure object is paused with the pool: by the contract each object is paused by itself, or all
// by their Cluster. An object that cannot be read is not reported.
func (r gatherer) observePause(ctx context.Context, g *gathering) control.Result {
	ref, cluster := g.pool.Spec.Template.Spec.InfrastructureRef, g.facts.cluster
	if cluster == nil || ptr.Deref(cluster.Spec.Paused, false) || !ref.IsDefined() {
		return control.Continue()
	}
	found, outcome := r.references.Read(ctx, g.pool, cluster, contract.InfraMachinePool(), ref)
	if o := found.Object; o != nil && !annotations.HasPaused(o) {
		g.facts.status.Paused += fmt.Sprintf("; %s is not paused, and its machines are still created, replaced and removed: "+
			"set the annotation on it too, or spec.paused of Cluster %s", found.Source, cluster.Name)
	}
	return control.RequeueAfter(outcome.After)
}

// readBootstrap reads the bootstrap configuration.
func (r gatherer) readBootstrap(ctx context.Context, g *gathering) control.Result {
	ref := g.pool.Spec.Template.Spec.Bootstrap.ConfigRef
	if !ref.IsDefined() {
		return control.Continue()
	}
	g.facts.status.BootstrapProblem = reference.UnsupportedBootstrap(ref, g.pool.Spec.Template.Spec.Version)
	found, outcome := r.readReference(ctx, g, contract.BootstrapConfig(), ref, "dataSecretCreated")
	found.Source.Once = g.facts.bootstrap.Source.Once
	g.facts.bootstrap = found
	return outcome
}

// readData finds out whether the pool has bootstrap data: that of its configuration, or without one that of the user.
func (r gatherer) readData(ctx context.Context, g *gathering) control.Result {
	if g.pool.Spec.Template.Spec.Bootstrap.ConfigRef.IsDefined() {
		var err error
		g.facts.data, err = reference.DataSecret(ctx, r.client, g.pool, g.facts.bootstrap)
		return control.Failed(err)
	}
	problem, err := reference.UserData(ctx, r.client, g.pool)
	if err != nil {
		return control.Failed(err)
	}
	g.facts.status.BootstrapProblem = problem
	if problem == nil {
		g.facts.bootstrap.Source.Done, g.facts.bootstrap.Source.Once = true, true
	}
	return control.Continue()
}

// readReference reads what the pool refers to and what it reports; field is the field of status.initialization that completes its part of
// the contract.
func (r gatherer) readReference(ctx context.Context, g *gathering, role contract.Role, ref clusterv1.ContractVersionedObjectReference,
	field string) (reference.Found, control.Result) {
	found, outcome := r.references.Read(ctx, g.pool, g.facts.cluster, role, ref)
	found = found.Reported(field)
	if found.Failure != nil {
		g.facts.status.Failure = found.Failure
	}
	return found, outcome
}

// readInfrastructure reads the infrastructure object and the instances that it lists. A group that was provisioned once stays provisioned,
// whatever the object reports later: only its instances change.
func (r gatherer) readInfrastructure(ctx context.Context, g *gathering) control.Result {
	f := &g.facts
	found, outcome := r.readReference(ctx, g, contract.InfraMachinePool(), g.pool.Spec.Template.Spec.InfrastructureRef, "provisioned")
	found.Source.Once = f.infrastructure.Source.Once || found.Source.Done
	f.infrastructure = found
	switch o := found.Object; {
	case o != nil:
		f.status.Replicas = reference.NestedInt32(o, "status", "replicas")
		f.status.UpToDate = reference.NestedInt32(o, "status", "upToDateReplicas")
		if found.Source.Once {
			outcome = outcome.Join(readInstances(ctx, r.client, g))
		}
	case f.status.Deleting && outcome.Err == nil:
		f.status.Replicas = ptr.To[int32](0)
	}
	f.status.Instances = int32(len(members.DistinctInstances(f.providerIDs)))
	if f.status.Deleting && ptr.Deref(f.status.Replicas, -1) == 0 {
		f.status.Instances = 0
	}
	return outcome
}

// afterElsewhere is the time until instances that another pool lists are checked again: a change of the other pool does not wake this one.
const afterElsewhere = 30 * time.Second

// readInstances reads the provider's list of instances, each once. A list in another order or spelling is no change. A provider that counts
// replicas has not filled in an empty list yet.
func readInstances(ctx context.Context, r client.Reader, g *gathering) control.Result {
	found := &g.facts.infrastructure
	ids, _, err := unstructured.NestedStringSlice(found.Object.Object, "spec", "providerIDList")
	if err != nil {
		found.Source.Problem = found.Source.String() + ": spec.providerIDList is not a list of strings"
		return control.Continue()
	}
	if replicas := g.facts.status.Replicas; len(ids) == 0 && replicas != nil && *replicas != 0 {
		return control.Continue()
	}
	ids, elsewhere, err := members.UnclaimedInstances(ctx, r, g.pool, members.DistinctInstances(ids))
	if err != nil {
		return control.Failed(err)
	}
	if !members.SameInstances(ids, g.pool.Spec.ProviderIDList) {
		g.facts.providerIDs, g.pool.Spec.ProviderIDList = ids, ids
	}
	if g.facts.status.ListedElsewhere = elsewhere; len(elsewhere) > 0 {
		return control.RequeueAfter(afterElsewhere)
	}
	return control.Continue()
}

// readMachines reads the Machines of the pool. Without them nothing can be said about what is left of the pool.
func (r gatherer) readMachines(ctx context.Context, g *gathering) control.Result {
	found, err := r.members.Machines(ctx, g.pool)
	g.facts.machines, g.facts.machinesRead = found, err == nil
	return control.Require(err)
}

// readNodes reads the Nodes of the pool's instances, and of instances that have left it and have Machines.
func (r gatherer) readNodes(ctx context.Context, g *gathering) control.Result {
	f := &g.facts
	found, outcome := r.connector.Find(ctx, g.pool, f.cluster, f.now)
	f.nodes, f.status.NodesUnknown, f.status.ConnectionInterrupted = found, found.Unknown, found.Interrupted
	var err error
	f.servingOutside, err = servingOutside(ctx, g)
	f.outsideRead = err == nil
	f.status.ByVersion = f.outsideRead && !f.hasMachines() && f.status.UpToDate == nil && g.pool.Spec.Template.Spec.Version != ""
	return outcome.Join(control.Require(err))
}

// servingOutside returns the keys of instances that have Machines, are not in the pool's list, and whose Nodes are Ready.
func servingOutside(ctx context.Context, g *gathering) (map[string]bool, error) {
	listed := members.ListedInstances(g.pool)
	var ids []string
	for _, m := range g.facts.machines {
		if id := m.Spec.ProviderID; id != "" && !listed[members.InstanceKey(id)] {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 || g.facts.nodes.Client == nil {
		return nil, nil
	}
	outside, err := nodes.ByProviderKeys(ctx, g.facts.nodes.Client, nodes.Keys(ids))
	serving := make(map[string]bool, len(outside))
	for key, node := range outside {
		serving[key], _ = nodes.Ready(node)
	}
	return serving, err
}

// readMembers reads the infrastructure machines of a pool whose infrastructure object reports a kind of them, and pairs them with the
// Machines.
func (r gatherer) readMembers(ctx context.Context, g *gathering) control.Result {
	g.facts.members.all = members.Pair(g.facts.machines, nil)
	kind := g.facts.machineKind()
	if kind == "" {
		return control.Continue()
	}
	gvk, err := r.members.Kind(ctx, g.facts.infrastructure.Object, kind)
	if err != nil {
		g.facts.members.problem = "cannot create Machines: " + err.Error()
		if errors.Is(err, contract.ErrNoKind) {
			return control.RequeueAfter(reference.AfterMissingKind)
		}
		return control.Failed(err)
	}
	infras, err := r.members.InfraMachines(ctx, g.pool, gvk)
	if err != nil {
		g.facts.members.problem = err.Error()
		return control.Failed(err)
	}
	g.facts.members = pairs{all: members.Pair(g.facts.machines, infras), kind: gvk}
	return control.Continue()
}

// readClaimed reads the Nodes that the pool has claimed, which may belong to instances that have left it.
func (r gatherer) readClaimed(ctx context.Context, g *gathering) control.Result {
	if g.facts.nodes.Found == nil {
		return control.Continue()
	}
	claimed, err := nodes.ClaimedBy(ctx, g.facts.nodes.Client, client.ObjectKeyFromObject(g.pool))
	g.facts.claimed = claimed
	return control.Failed(err)
}
