// Package infrapool runs the infrastructure objects of machine pools, of every kind, with one reconciler. A pass gathers
// what Kubernetes says about the pool, lets the engine observe the cloud and begin at most one step, and writes down what
// was seen, once, at the end. What differs between kinds is an Adapter: its specification in the domain's words, and
// the few status fields that only it has.
package infrapool

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool/preview"
	"github.com/muster-project/muster/kube/machines"
	"github.com/muster-project/muster/pool"
)

const (
	// OwnerIDAnnotation is who the cloud objects of a pool belong to. It is written once, before the first call that may
	// change something in the cloud, and survives moves, backup and restore of the object.
	OwnerIDAnnotation = "muster.dev/owner-id"
	// GroupNameAnnotation is the name that the cloud's group shall have, where the derived one does not fit.
	GroupNameAnnotation = "muster.dev/group-name"
	// AdoptAnnotation is the name of the cloud's group that another tool made and that becomes the pool's, without a machine
	// replaced. It is read on the infrastructure object and on its MachinePool.
	AdoptAnnotation = pool.AdoptAnnotation
	// ResolvedAnnotation holds what was looked up for the specification and what is needed to find the pool's cloud
	// objects when its cluster is gone, as a JSON object of strings.
	ResolvedAnnotation = "muster.dev/resolved"
)

// Object is an infrastructure object of a machine pool.
type Object interface {
	client.Object
	conditions.Setter
	Lists
	// GetCommonStatus is the part of the status that all kinds share, to be read and written in place.
	GetCommonStatus() *common.Status
}

// Lists are the fields of the specification that the contract has the controller write.
type Lists interface {
	GetProviderID() string
	SetProviderID(id string)
	GetProviderIDList() []string
	SetProviderIDList(ids []string)
}

// Kind describes one infrastructure kind: its names, and its optional capabilities, which are nil where the kind lacks them.
type Kind[O Object, S any] struct {
	// Name of the kind, for example AWSMachinePool. Objects of MachinePools refer to it by group and name.
	Group, Name string
	// Finalizer keeps an object until everything that it owns in the cloud is gone.
	Finalizer string
	// New and NewList make empty objects of the kind.
	New     func() O
	NewList func() client.ObjectList
	// Aliases are names that the ecosystem knows conditions by, beside the ones that all kinds have.
	Aliases map[string]string
	// NoInfraCluster says what a Cluster lacks for which Adapter.InfraCluster refers to nothing; empty is that it names no infrastructure.
	NoInfraCluster string
	// BootstrapMode says what an object's machines boot with; nil is BootstrapModeRequired for all.
	BootstrapMode func(O) BootstrapMode
	// Identify sets the identity with which the cloud is called in the specification that the driver gets, and returns what must stay on
	// the object so that the identity is known when Inputs.InfraCluster is gone. An *IdentityError means that no identity may be used;
	// any other error is one of the API server. Nil: clusters of this kind name no identity.
	Identify func(ctx context.Context, in Inputs, from *Credentials, spec S) (keep map[string]string, err error)
	// Machines describes the objects that represent single instances, and MachineKind returns the status field that announces their kind
	// to the core controller. Both are nil if instances of this kind have no Machines.
	Machines    *machines.Kind
	MachineKind func(O) *string
	// Conditions returns the conditions that no other kind has. It is called when the cloud has answered, and returns the same types each
	// time. Nil: there are none.
	Conditions func(o O, r report.Report, out engine.Outcome) []report.Condition
	// Health returns the bounds of the cloud's own rollout that the object asks for, with the cloud's defaults filled in, for plans. Nil:
	// the cloud replaces no machines by itself.
	Health func(O) preview.Health
}

// BootstrapMode is what the bootstrap data of a MachinePool is to the machines of its infrastructure object.
type BootstrapMode int

const (
	// BootstrapModeRequired data is waited for: no machine could join without it.
	BootstrapModeRequired BootstrapMode = iota
	// BootstrapModeOptional data is waited for where the MachinePool names any, and not missed where it names none: the cloud's own machines
	// know how to join.
	BootstrapModeOptional
	// BootstrapModeNone means that data has no way to the machines, and is not read.
	BootstrapModeNone
)

// Adapter is what one kind adds to the reconciler.
type Adapter[O Object, S any] interface {
	Kind() Kind[O, S]
	// InfraCluster refers to the object that says where in the cloud the cluster is.
	InfraCluster(cluster *clusterv1.Cluster) clusterv1.ContractVersionedObjectReference
	// Translate says what the object asks for. An error means that it can't be followed, whatever the cloud says; it is
	// shown to the user.
	Translate(o O, in Inputs) (Translation[S], error)
	// Report writes the status fields that only this kind has. It is called when the cloud has answered.
	Report(o O, r report.Report, out engine.Outcome)
}

// Inputs are what a translation may read beside the object.
type Inputs struct {
	// InfraCluster is the object that Adapter.InfraCluster refers to; nil when it is gone, and the object is being deleted.
	InfraCluster *unstructured.Unstructured
	// Resolved is what the object remembers.
	Resolved map[string]string
	// MachinePool that the object belongs to; nil while there is none. It must not be changed.
	MachinePool *clusterv1.MachinePool
	// Cluster is the name of the Cluster, as far as it is known.
	Cluster string
}

// NotYet is the error of a translation that waits for something: the cloud can't be asked before that is there.
type NotYet struct{ Cause pool.Cause }

// Error is the cause's sentence.
func (n *NotYet) Error() string { return n.Cause.Message }

// Translation is what an object asks for, in the domain's words.
type Translation[S any] struct {
	// Spec is what the driver is handed. It depends on nothing that the reconciler itself writes.
	Spec S
	// Min, Max and their fields bound the replicas, as in pool.Desired.
	Min, Max           int
	MinField, MaxField string
	// DeletePolicy orders the instances that a scale-in or a rollout may choose from.
	DeletePolicy pool.DeletePolicy
	// Strategy is how instances are replaced by our hand; nil leaves it to the cloud's own roll, where it has one.
	Strategy *pool.Strategy
	// Rollback says that the cloud takes back a roll of its own that fails.
	Rollback bool
	// RollDisabled, when set, says by which field the object keeps a changed template from replacing instances.
	RollDisabled *pool.Cause
	// KeepTemplates is how long the history of template versions is, as in pool.Desired.
	KeepTemplates int
	// NoPrerequisites says that the object asks for nothing beside its template, as in pool.Desired.
	NoPrerequisites bool
	// CreateBlocked, when set, says what is still missing for new machines. A group that exists is looked after.
	CreateBlocked *pool.Cause
	// Keep is what must stay on the object so that its cloud objects are found when Inputs.InfraCluster is gone.
	Keep map[string]string
	// Operations are the cloud's long-running operations that the object's status names.
	Operations []pool.Operation
}
