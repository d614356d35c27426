package doctor

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Installation holds the facts about a management cluster. It holds no secret.
type Installation struct {
	// Now is the time at which it was read.
	Now time.Time
	// Local is true in a world of "muster up", whose controllers run as processes.
	Local bool
	// Release is the version of this build; empty if it is no release.
	Release   string
	Providers []Provider
	// Managers are the Deployments of Muster, of Cluster API and of other providers.
	Managers    []Manager
	Lease       *Lease
	Definitions []Definition
	Webhooks    []Configuration
	Services    map[string]Service
	Rights      *Rights
	Identities  []Identity
	Pools       []Pool
	Policies    []Policy
	// Unread has, by the name of a check, why what it needs could not be read.
	Unread map[string]string
}

// The values of the label cluster.x-k8s.io/provider of Cluster API's core and of Muster.
const (
	CoreProvider   = "cluster-api"
	MusterProvider = "infrastructure-muster"
)

// Provider describes one cloud as this build supports it.
type Provider struct {
	// Title is the cloud's name for users.
	Title string
	Kinds []Kind
	// Existing is the other provider that can run the same kinds.
	Existing Existing
}

// Kind is an infrastructure kind of pools that a controller of Muster runs.
type Kind struct {
	schema.GroupKind
	// Controller is its name in --controllers. Gate switches it; empty if none does.
	Controller, Gate string
	// GateDefault is the value of the gate if the command line does not set it.
	GateDefault bool
}

// Existing is another provider whose manager can run the same kinds.
type Existing struct {
	// Label is the value of cluster.x-k8s.io/provider on its Deployment, Title its name for users.
	Label, Title string
	// PoolGate is the feature gate that runs its controllers of pools, PoolGateDefault its default, and Variable what clusterctl
	// sets it by.
	PoolGate, Variable string
	PoolGateDefault    bool
	// ManagedGate is the feature gate, off by default, that runs its controllers of the cloud's own node pools, and ManagedVariable what
	// clusterctl sets it by; empty if PoolGate runs those too.
	ManagedGate, ManagedVariable string
}

// Manager is a Deployment of a provider.
type Manager struct {
	// Provider is the value of the label cluster.x-k8s.io/provider.
	Provider, Namespace, Name string
	// Version is the tag of its image.
	Version        string
	Desired, Ready int32
	// Gates are those of --feature-gates, and Controllers those of --controllers; without that flag there are none.
	Gates       map[string]bool
	Controllers []string
	// Watches is the value of --namespace; empty if all are watched.
	Watches string
	// CredentialsNamespaces is the value of --credentials-namespaces, nil if it is not set, and CredentialsSelector that of
	// --credentials-namespace-selector.
	CredentialsNamespaces []string
	CredentialsSelector   string
	// IdentityEndpoints is the value of --identity-endpoints.
	IdentityEndpoints []string
}

// Lease is that of the leader election of Muster's managers.
type Lease struct {
	// Holder is empty if no manager holds it.
	Holder  string
	Renewed time.Time
	// Duration is the validity after Renewed.
	Duration time.Duration
}

// Definition is a CustomResourceDefinition that Muster needs.
type Definition struct {
	Name string
	// Core is true for a kind of Cluster API's own, of which Wants is the version that Muster reads.
	Core  bool
	Wants string
	// Served is empty if the definition does not exist.
	Served []string
	// Message is the result of the comparison at the start of a manager; empty if the manager runs the kind.
	Message string
	// WantLabels holds the contract labels of this build's definition, Labels those of the installed one.
	WantLabels, Labels map[string]string
}

// Configuration is an object that makes the API server call Muster: a webhook configuration, or a CustomResourceDefinition that converts.
type Configuration struct {
	// Object is its kind and name.
	Object string
	// Missing are the webhooks that it lacks; Exists is false if the object does not exist.
	Exists  bool
	Missing []string
	Calls   []Call
}

// Call is one of its references to a server.
type Call struct {
	// Service is NAMESPACE/NAME; empty if URL is called.
	Service, URL string
	CABundle     []byte
}

// Service is a service that is called.
type Service struct {
	Exists bool
	// Ready is the number of its ready addresses.
	Ready int
	// Secret is the name of the secret with the serving certificate, NAMESPACE/NAME, and Certificate the certificate in it, in PEM; empty if
	// the secret or its certificate does not exist. SecretError explains why it could not be read.
	Secret, SecretError string
	Certificate         []byte
}

// Rights holds the permissions of the manager's service account.
type Rights struct {
	// Account is its name, NAMESPACE/NAME.
	Account string
	// Checked is the number of permissions that were checked. Missing lists those that it lacks.
	Checked int
	Missing []Right
}

// Right is one rule of the generated roles: a verb and a resource.
type Right struct {
	Verb, Group, Resource, Name string
	// Namespace is empty for all.
	Namespace string
}

// Identity is the identity for the API calls of one cluster, as its infrastructure object selects it.
type Identity struct {
	Namespace, Cluster, Provider string
	// Object is the kind and name of the object that refers to it, and Name the identity, as KIND/NAME; empty for the credentials of the
	// manager.
	Object, Name string
	// Reason and Message explain why it cannot be used; empty if it can.
	Reason, Message string
}

// Pool is a MachinePool with its infrastructure object.
type Pool struct {
	Namespace, Name, Cluster string
	Kind                     schema.GroupKind
	Infrastructure           string
	// Exists is false if the infrastructure object does not exist.
	Exists, Paused, Deleting bool
	// Conditions are those of the infrastructure object.
	Conditions []metav1.Condition
	// Cause is the condition of the infrastructure object that explains its failure; nil if it has none, or if Conditions alone explain it.
	Cause *metav1.Condition
	// Message is the most important sentence about the pool's state.
	Message string
}
