// Package clouds describes the local side of a cloud: its simulator, how clients find that, what worlds are seeded with, and what stands
// in for those controllers of the cloud's provider that Muster does not have. Each cloud builds its value in a folder of its own, and
// package all lists them; nothing else of the local world names a cloud.
package clouds

import (
	"context"
	"net/http"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/local/foreign"
	"github.com/muster-project/muster/local/seed"
	"github.com/muster-project/muster/local/workload"
	"github.com/muster-project/muster/sim"
)

// Cloud is the local side of one cloud.
type Cloud struct {
	// Name is what command lines, files and simulated machines call the cloud, and Title what texts call it.
	Name, Title string
	// Simulate starts the simulator.
	Simulate func(Options) (Simulator, error)
	// Clients is how clients of the cloud find the simulator.
	Clients Clients
	// Seed is what worlds are seeded with. Its name is the cloud's.
	Seed seed.Cloud
	// Kinds are those of the cloud's provider that Muster only reads.
	Kinds []foreign.Kind
	// Reconcilers returns what stands in for the provider's controllers of these kinds.
	Reconcilers func(Inputs) []Reconciler
	// Resources are the names by which kubectl lists the cloud's pools and their machines.
	Resources []string
	// Help is what the help of commands takes from the cloud.
	Help Help
}

// Options of a simulator.
type Options struct {
	// Dir keeps what the cloud holds; empty keeps it in memory.
	Dir string
	// Speed is how much faster than life machines come, boot and go; zero means the simulator's default.
	Speed float64
	// MachineHost runs what is inside machines.
	MachineHost sim.MachineHost
}

// Simulator is a simulated cloud that runs.
type Simulator struct {
	// Handler answers the cloud's clients.
	Handler http.Handler
	// Fetch returns what the user data of a machine points to; nil where the cloud holds nothing for machines.
	Fetch func(ctx context.Context, m sim.Machine, source string) ([]byte, error)
	// Close stops the cloud.
	Close func() error
}

// Clients is how the SDK and the tools of a cloud find its simulator. A setting is an environment variable, NAME=value.
type Clients struct {
	// Settings lead to the simulator with a base URL inside a world.
	Settings func(base string) []string
	// Account are Settings and all else that clients need which know no cluster's identity.
	Account func(base string) []string
	// Isolation are settings that keep the SDK from accounts and credentials which it finds by itself.
	Isolation []string
	// Prefixes of all environment variables that lead the SDK to an account.
	Prefixes []string
	// Hosts are those that clients reach whose endpoints are fixed.
	Hosts []string
	// Authorities are the environment variables that name the file with the CA which the SDK trusts, beside SSL_CERT_FILE.
	Authorities []string
}

// Inputs are what reconcilers work with.
type Inputs struct {
	// Client of the management cluster. It reads Secrets from the API server, not from a cache.
	Client client.Client
	// Servers are where API servers of workload clusters run, and Publisher tells others how to reach them.
	Servers   workload.Servers
	Publisher *workload.Publisher
	// Endpoint is the base URL of the simulator.
	Endpoint string
}

// Reconciler can be added to a manager.
type Reconciler interface {
	SetupWithManager(mgr ctrl.Manager) error
}

// Help is what the help of commands takes from a cloud.
type Help struct {
	// Variable is an example of the manifests' variables, and Hosts are examples of the hosts that clients reach, as a list in words.
	Variable, Hosts string
	// Identities are kinds whose objects name secrets in the namespace that the manager has for such; empty where there are none.
	Identities string
	// Plan are arguments of "muster plan", as an example.
	Plan string
}
