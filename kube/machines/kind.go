package machines

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/muster-project/muster/pool"
)

// Kind describes one kind of infrastructure machines.
type Kind struct {
	// GroupVersion and Name of the kind, for example AWSMachine.
	GroupVersion schema.GroupVersion
	Name         string
	// Finalizer keeps an object until its instance is gone.
	Finalizer string
	// OthersFinalizer is that of the controller of another provider which runs objects of the kind, too; empty if there is none. It puts it
	// on those of pools as well, for which it has nothing to do in the cloud: it goes with Finalizer.
	OthersFinalizer string
	// New and NewList make empty objects of the kind.
	New     func() client.Object
	NewList func() client.ObjectList
	// Always is true if every instance has machines in every pool, failed ones too. Otherwise each pool decides, and failed ones have none.
	Always bool
	// NameOf returns the name of the infrastructure machine of an instance, by the name of the pool's infrastructure object; nil is Name with
	// the name of the MachinePool. It is the same for the same instance in every process.
	NameOf func(poolName string, i pool.Instance) string
	// Labels returns the labels of objects of a cluster and a pool in addition to those of the contract; nil is none.
	Labels func(cluster, poolName string) map[string]string
	// HoldsPool is true if the infrastructure object of a pool is not deleted before its machines when a user deletes it in the foreground.
	HoldsPool bool
	// ReusesID reports whether the cloud gives a provider ID to another instance when the group is deleted and created again; nil is
	// never. An instance with such an ID is part of its group: it never runs outside of it, and is gone when the group is.
	ReusesID func(providerID string) bool
	// Places is true if a group repairs an instance by another one with the same provider ID and Node name. The objects stand for the place
	// then: they stay when its instance is taken, and what was requested of them holds for whichever instance is there.
	Places bool
	// ProviderID returns the provider ID in the specification of an object.
	ProviderID func(o client.Object) string
	// FillSpec and FillStatus set what is known about an instance in an object. They leave other fields, and change nothing if nothing is new.
	FillSpec   func(o client.Object, seen Seen)
	FillStatus func(o client.Object, seen Seen)
}

// is reports whether a reference is to an object of the kind.
func (k Kind) is(ref clusterv1.ContractVersionedObjectReference) bool {
	return ref.Kind == k.Name && ref.APIGroup == k.GroupVersion.Group
}

// reuses reports whether the cloud gives a provider ID to another instance when the group is created again.
func (k Kind) reuses(providerID string) bool {
	return providerID != "" && k.ReusesID != nil && k.ReusesID(providerID)
}

// Holds reports whether a finalizer of the kind keeps an object.
func (k Kind) Holds(o client.Object) bool {
	return controllerutil.ContainsFinalizer(o, k.Finalizer) || k.OthersFinalizer != "" &&
		controllerutil.ContainsFinalizer(o, k.OthersFinalizer)
}

// Release takes the finalizers of the kind off an object.
func (k Kind) Release(o client.Object) {
	controllerutil.RemoveFinalizer(o, k.Finalizer)
	if k.OthersFinalizer != "" {
		controllerutil.RemoveFinalizer(o, k.OthersFinalizer)
	}
}

// Seen is one instance as a pass has seen it.
type Seen struct {
	Instance pool.Instance
	// Pool is the infrastructure object of the pool, Wanted the template that it asks for.
	Pool   client.Object
	Wanted pool.Template
	// NodesUnknown is true if the workload cluster could not be reached: a missing Node then means nothing.
	NodesUnknown bool
	Now          time.Time
}

const (
	// nameLimit is the maximum length of a label's value: names of Machines become values of labels.
	nameLimit = validation.LabelValueMaxLength
	// hashed is the length of the hash that replaces the end of a name that is too long.
	hashed = 10
	// idLimit bounds the part of a name that an instance's ID takes.
	idLimit = 32
)

// Name returns the name of the infrastructure machine, and of the Machine, of an instance of a pool: the same for the same instance in
// every process. An ID that is too long, or is no valid label, is replaced by a hash of it.
func Name(poolName, instanceID string) string {
	id := instanceID
	if len(id) > idLimit || len(validation.IsDNS1123Label(id)) > 0 {
		id = hash(instanceID)
	}
	return fit(poolName, nameLimit-len(id)-1) + "-" + id
}

// Normalize returns a name as it is, or if it is too long its beginning with a hash of it.
func Normalize(name string) string { return fit(name, nameLimit) }

func fit(name string, limit int) string {
	if len(name) <= limit {
		return name
	}
	return strings.TrimRight(name[:limit-hashed-1], "-.") + "-" + hash(name)
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:hashed]
}
