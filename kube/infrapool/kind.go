// Package infrapool reconciles the infrastructure objects of machine pools, of every kind. A pass reads what the management cluster has for
// the pool, translates it into the engine's input, lets the engine observe the cloud and start at most one step, and writes the status
// once, at the end. What differs between kinds is an Adapter: it translates the specification and sets the few status fields that only its
// kind has.
//
// The packages below hold one duty each, and no client of the cloud: settings (annotations of users), bootstrap (data and tokens), identity
// (credentials), ownership (which object owns a group), stored (values that outlive the process), workload (nodes and drains), watch (what
// enqueues an object), status (fields, conditions and events), preview (plans).
package infrapool

import (
	"context"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool/bootstrap"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/kube/infrapool/ownership"
	"github.com/muster-project/muster/kube/infrapool/preview"
	"github.com/muster-project/muster/kube/infrapool/revision"
	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/kube/infrapool/status"
	"github.com/muster-project/muster/kube/infrapool/watch"
	"github.com/muster-project/muster/kube/machines"
	"github.com/muster-project/muster/pool"
)

// Object is an infrastructure object of a machine pool.
type Object interface {
	status.Object
	WrittenFields
}

// WrittenFields are the fields of the specification that the contract has the controller write.
type WrittenFields interface {
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
	// Aliases are the ecosystem's names of conditions, in addition to those that all kinds have.
	Aliases map[string]string
	// NoInfraCluster names the missing part of a Cluster for which Adapter.InfraCluster returns nothing; empty if the Cluster references no
	// infrastructure.
	NoInfraCluster string
	// ControlPlane returns the reference of a Cluster to its control plane. NoControlPlane names the missing part of a Cluster for which it
	// returns nothing. Nil: the object that Adapter.InfraCluster references describes the whole cluster in the cloud.
	ControlPlane   func(*clusterv1.Cluster) clusterv1.ContractVersionedObjectReference
	NoControlPlane string
	// BootstrapMode returns whether an object's machines need bootstrap data; nil means bootstrap.Required for all objects.
	BootstrapMode func(O) bootstrap.Mode
	// Identify sets the identity with which the cloud is called in the specification that the driver gets, and returns what to store on the
	// object so that the identity is known when the infrastructure cluster is gone. An *identity.Error means that no identity may be used;
	// any other error is one of the API server. Nil: clusters of this kind reference no identity.
	Identify func(ctx context.Context, by identity.Referrer, from *identity.Credentials, spec S) (keep map[string]string, err error)
	// ClusterIdentifier, where another infrastructure cluster has the same, keeps tags that name it from allowing an adoption. Nil: tags name
	// Clusters by their names.
	ClusterIdentifier *ClusterIdentifier[S]
	// OwnedElsewhere returns why another controller of the management cluster runs the group of an object, or nil: the cloud is not read
	// then, and an object that is deleted is released. Nil: there is no such controller.
	OwnedElsewhere func(ctx context.Context, c client.Client, o O) (*pool.Cause, error)
	// Kin are the other kinds whose groups are the same in the cloud as those of this kind: an object of one may claim the owner ID of an
	// object of the other.
	Kin []ownership.Objects
	// Machines describes the objects that represent single instances, and MachineKind returns the status field that announces their kind
	// to the core controller. Both are nil if instances of this kind have no Machines.
	Machines    *machines.Kind
	MachineKind func(O) *string
	// TemplateFields are the names of the fields of the specification that make the template of new machines, and that a pool which returns to
	// a former template takes from it. Nil: pools of this kind can't return.
	TemplateFields []string
	// TemplateExcept are those within them, such as template.vmExtensions, that are not kept and stay as the specification has them: they hold
	// secrets, or are changed on machines in place.
	TemplateExcept []string
	// VersionRises is true if the cloud refuses a lower version of Kubernetes than nodes have.
	VersionRises bool
	// Conditions returns the conditions that no other kind has. It is called when the cloud has answered, and returns the same types each
	// time. Nil: there are none.
	Conditions func(o O, r report.Report, out engine.Outcome) []report.Condition
	// Health returns the bounds of a provider rollout that the object asks for, with the cloud's defaults filled in, for plans. Nil: the
	// cloud replaces no machines by itself.
	Health func(O) preview.Health
}

// template returns the fields of the specification that make the template.
func (k Kind[O, S]) template() revision.Fields {
	return revision.Fields{Names: k.TemplateFields, Except: k.TemplateExcept}
}

// bootstrapMode returns what bootstrap data is to the machines of an object.
func (k Kind[O, S]) bootstrapMode(o O) bootstrap.Mode {
	if k.BootstrapMode == nil {
		return bootstrap.Required
	}
	return k.BootstrapMode(o)
}

// groupKind returns the names of the kind.
func (k Kind[O, S]) groupKind() schema.GroupKind {
	return schema.GroupKind{Group: k.Group, Kind: k.Name}
}

// controllerName returns the name of the kind's controller.
func (k Kind[O, S]) controllerName() string { return strings.ToLower(k.Name) }

// Indexes returns the indexes over the objects of the kind and over its infrastructure machines.
func (k Kind[O, S]) Indexes() []watch.Index {
	list := []watch.Index{watch.OwnerIDIndex(k.New())}
	if k.Machines != nil {
		list = append(list, watch.MachineIndexes(k.groupKind(), k.Machines.New)...)
	}
	return list
}

// hasIdentity reports whether the object may own something in the cloud.
func (k Kind[O, S]) hasIdentity(o O) bool {
	return controllerutil.ContainsFinalizer(o, k.Finalizer) || o.GetAnnotations()[ownership.Annotation] != ""
}

// wantsMachines reports whether the pool's instances have Machines; byDefault is the answer without an annotation. An invalid annotation
// changes nothing.
func (k Kind[O, S]) wantsMachines(o O, byDefault bool) bool {
	if k.Machines == nil {
		return false
	}
	switch value, ok := o.GetAnnotations()[settings.MachinesAnnotation]; {
	case k.Machines.Always:
		return true
	case !ok:
		return byDefault
	case value == settings.MachinesOn:
		return true
	case value == settings.MachinesOff:
		return false
	}
	return k.announcedMachines(o) != ""
}

// announcedMachines returns the kind of infrastructure machines that the object's status announces; empty if it announces none.
func (k Kind[O, S]) announcedMachines(o O) string {
	if k.MachineKind == nil {
		return ""
	}
	return *k.MachineKind(o)
}

// allowedMachines returns the values of the annotation for Machines that the kind allows.
func (k Kind[O, S]) allowedMachines() settings.Machines {
	switch {
	case k.Machines == nil:
		return settings.MachinesNever
	case k.Machines.Always:
		return settings.MachinesAlways
	}
	return settings.MachinesOptional
}

// Adapter is implemented by each infrastructure kind. The reconciler is the same for all of them.
type Adapter[O Object, S any] interface {
	Kind() Kind[O, S]
	// InfraCluster returns the reference to the object that describes the cluster in the cloud.
	InfraCluster(cluster *clusterv1.Cluster) clusterv1.ContractVersionedObjectReference
	// Translate returns what the object asks for. An error means that the specification is invalid, whatever the cloud reports; it is shown
	// to the user.
	Translate(o O, in Inputs) (Translation[S], error)
	// Report sets the status fields that only this kind has. It is called when the cloud has answered.
	Report(o O, r report.Report, out engine.Outcome)
}

// Inputs holds everything that a translation may read in addition to the object.
type Inputs struct {
	// InfraCluster is the object that Adapter.InfraCluster references; nil if it is gone.
	InfraCluster *unstructured.Unstructured
	// ControlPlane is the object that Kind.ControlPlane references; nil if it is gone.
	ControlPlane *unstructured.Unstructured
	// Resolved are the values stored on the object.
	Resolved map[string]string
	// MachinePool that the object belongs to; nil while there is none. It must not be changed.
	MachinePool *clusterv1.MachinePool
	// Cluster is the name of the Cluster, as far as it is known, and ClusterDeleting is true if it is being deleted or gone.
	Cluster         string
	ClusterDeleting bool
}

// NotYet is the error of a translation that waits for an input, without which the cloud cannot be read.
type NotYet struct{ Cause pool.Cause }

// Error returns the message of the cause.
func (n *NotYet) Error() string { return n.Cause.Message }

// Translation is the desired state of an object in terms of the domain.
type Translation[S any] struct {
	// Spec is passed to the driver. It depends on nothing that the reconciler itself writes.
	Spec S
	// Min, Max and their fields bound the replicas, as in pool.Desired.
	Min, Max           int
	MinField, MaxField string
	// Autoscaler is the value of the annotation cluster.x-k8s.io/replicas-managed-by for groups that the cloud's own autoscaler sizes; empty
	// if the specification asks for no such autoscaler. The MachinePool is given the annotation, and spec.replicas follows the group.
	Autoscaler string
	// AutoscalerField names the field that asks for that autoscaler, as in pool.Desired.
	AutoscalerField string
	// DeletePolicy orders the instances that a scale-in or a rollout may choose from.
	DeletePolicy pool.DeletePolicy
	// Strategy configures the replacement of instances by Muster; nil leaves it to a provider rollout, if the cloud has one.
	Strategy *pool.Strategy
	// MinReady is the time for which a node must have been Ready to count as available, unless the MachinePool requests a longer one.
	MinReady time.Duration
	// Rollback is true if the cloud reverts a provider rollout that fails.
	Rollback bool
	// RollDisabled, when set, names the field with which the object keeps a changed template from replacing instances.
	RollDisabled *pool.Cause
	// KeepTemplates is the length of the history of template versions, as in pool.Desired.
	KeepTemplates int
	// NoPrerequisites is true if the object requires nothing in addition to its template, as in pool.Desired.
	NoPrerequisites bool
	// CreateBlocked, when set, names the missing input of new machines. A group that exists is reconciled.
	CreateBlocked *pool.Cause
	// Keep holds values to store on the object so that its cloud objects are found when Inputs.InfraCluster and ControlPlane are gone.
	Keep map[string]string
	// RemediationDelay is the shortest time that a Node must have been unready for Muster to replace its machine, where the cloud heals
	// Nodes by itself and needs that long. Zero: the cloud does not.
	RemediationDelay time.Duration
	// Operations are the long-running operations of the cloud in the object's status.
	Operations []pool.Operation
}
