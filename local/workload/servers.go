package workload

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/muster-project/muster/local/pki"
)

// Servers runs the API servers of the workload clusters, each by the key of its control plane object.
type Servers interface {
	// Start starts an API server unless it runs. Machines can join it from then on.
	Start(ctx context.Context, key types.NamespacedName, w ServerSpec) (*Server, error)
	// Remove stops an API server and removes everything that it has kept.
	Remove(ctx context.Context, key types.NamespacedName) error
	// Version is the Kubernetes version of all of them, with the leading v.
	Version() string
}

// Server is one of them: an API server that is its clients' whole control plane.
type Server struct {
	pki.Access
	// EtcdCA and ProxyCA are the other authorities that kubeadm's control plane keeps.
	EtcdCA, ProxyCA *pki.Authority
}

// Host is where all of them listen.
const Host = "127.0.0.1"

// ServerSpec describes one API server.
type ServerSpec struct {
	// Cluster is the name of the Cluster.
	Cluster string
	// Port is the port to listen on; 0 selects the previous port of the server, or a free one.
	Port int
	// NodeMonitorGrace is the time without a heartbeat after which a Node becomes Unknown; zero means the controllers' default.
	NodeMonitorGrace time.Duration
}

// KeyOf returns the key of the server of an object of another kind than LocalControlPlane, whose servers have the names of their objects.
// No object has a name with an underscore, so keys of different kinds never collide.
func KeyOf(kind string, object types.NamespacedName) types.NamespacedName {
	return types.NamespacedName{Namespace: object.Namespace, Name: object.Name + "_" + kind}
}
