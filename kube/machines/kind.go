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

	"github.com/muster-project/muster/pool"
)

// Kind is what holds for every infrastructure machine of one kind.
type Kind struct {
	// GroupVersion and Name of the kind, for example AWSMachine.
	GroupVersion schema.GroupVersion
	Name         string
	// Finalizer keeps an object until its instance is gone.
	Finalizer string
	// New and NewList make empty objects of the kind.
	New     func() client.Object
	NewList func() client.ObjectList
	// Always says that every instance that exists is stood for in every pool, failed ones too. Otherwise each pool says whether its
	// instances are, and failed ones are not.
	Always bool
	// NameOf is the name of the object that stands for an instance of the pool whose infrastructure object is named; nil is Name of
	// the MachinePool's. It is the same for the same instance, whoever asks.
	NameOf func(poolName string, i pool.Instance) string
	// Labels are what objects of a cluster and a pool carry beside the labels of the contract; nil is nothing.
	Labels func(cluster, poolName string) map[string]string
	// HoldsPool says that a pool's infrastructure object can't be deleted before its machines where somebody deletes it in the
	// foreground.
	HoldsPool bool
	// ReusesID reports whether the cloud gives a provider ID to another instance when the group is deleted and created again; nil is
	// never.
	ReusesID func(providerID string) bool
	// ProviderID is the one that an object's specification says.
	ProviderID func(o client.Object) string
	// FillSpec and FillStatus write what is known about an instance into an object. They leave alone what they know nothing of,
	// and change nothing when nothing is new.
	FillSpec   func(o client.Object, seen Seen)
	FillStatus func(o client.Object, seen Seen)
}

// is says whether a reference is to one of the kind.
func (k Kind) is(ref clusterv1.ContractVersionedObjectReference) bool {
	return ref.Kind == k.Name && ref.APIGroup == k.GroupVersion.Group
}

// Seen is one instance as a pass has seen it.
type Seen struct {
	Instance pool.Instance
	// Pool is the infrastructure object of the pool, Wanted the template that it asks for.
	Pool   client.Object
	Wanted pool.Template
	// NodesUnknown says that the workload cluster could not be asked: a missing Node then means nothing.
	NodesUnknown bool
	Now          time.Time
}

const (
	// nameLimit is what a label's value may hold: names of Machines become values of labels.
	nameLimit = validation.LabelValueMaxLength
	// hashed is how many letters of a hash stand for what does not fit into a name.
	hashed = 10
	// idLimit bounds the part of a name that an instance's ID takes.
	idLimit = 32
)

// Name is the name of the infrastructure machine, and of the Machine, that stand for an instance of a pool: the same for the
// same instance, whoever asks. What is too long, or holds letters that a name may not have, is replaced by a hash of it.
func Name(poolName, instanceID string) string {
	id := instanceID
	if len(id) > idLimit || len(validation.IsDNS1123Label(id)) > 0 {
		id = hash(instanceID)
	}
	return fit(poolName, nameLimit-len(id)-1) + "-" + id
}

// Normalize is a name as it is, or where it is too long its beginning with a hash of it.
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
