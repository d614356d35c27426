// Package clouds describes the local side of a cloud: its simulator, how clients find it, the built-in objects of worlds, and the
// replacements for those controllers of the cloud's provider that Muster lacks. Each cloud builds its value in its own folder, and package
// all lists them; no other part of the local world names a cloud.
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
	// Name identifies the cloud in command lines, files and simulated machines. Title is its name in texts.
	Name, Title string
	// Simulate starts the simulator.
	Simulate func(Options) (Simulator, error)
	// Clients holds the settings by which clients of the cloud find the simulator.
	Clients Clients
	// Seed holds the built-in objects of worlds. Its name is the cloud's.
	Seed seed.Cloud
	// Kinds lists the kinds of the cloud's provider that Muster only reads.
	Kinds []foreign.Kind
	// Reconcilers returns the stand-ins for the provider's controllers of these kinds.
	Reconcilers func(Inputs) []Reconciler
	// Resources lists the resource names of the cloud's pools and machines for kubectl.
	Resources []string
	// Help holds the cloud's part in the help of commands.
	Help Help
}

// Options of a simulator.
type Options struct {
	// Dir stores the state of the cloud; empty keeps it in memory.
	Dir string
	// Speed is the factor by which machines start, boot and stop faster than in a real cloud; zero means the simulator's default.
	Speed float64
	// MachineHost simulates the software on machines.
	MachineHost sim.MachineHost
}

// Simulator is a running simulated cloud.
type Simulator struct {
	// Handler answers the cloud's clients.
	Handler http.Handler
	// Fetch returns what the user data of a machine points to; nil where the cloud holds nothing for machines.
	Fetch func(ctx context.Context, m sim.Machine, source string) ([]byte, error)
	// Close stops the cloud.
	Close func() error
}

// Clients holds the settings by which the SDK and the tools of a cloud find its simulator. A setting is an environment variable,
// NAME=value.
type Clients struct {
	// Settings returns the settings for a simulator with this base URL in a world.
	Settings func(base string) []string
	// Account returns Settings and those that clients without a cluster's identity need in addition.
	Account func(base string) []string
	// Isolation lists the settings that keep the SDK from finding other accounts and credentials.
	Isolation []string
	// Prefixes of all environment variables that lead the SDK to an account.
	Prefixes []string
	// Hosts are those that clients reach whose endpoints are fixed.
	Hosts []string
	// Authorities lists the environment variables that name the file with the CA that the SDK trusts, in addition to SSL_CERT_FILE.
	Authorities []string
}

// Inputs holds the dependencies of reconcilers.
type Inputs struct {
	// Client accesses the management cluster. It reads Secrets from the API server, not from a cache.
	Client client.Client
	// Servers runs the API servers of workload clusters, and Publisher announces their addresses.
	Servers   workload.Servers
	Publisher *workload.Publisher
	// Endpoint is the base URL of the simulator.
	Endpoint string
}

// Reconciler can be added to a manager.
type Reconciler interface {
	SetupWithManager(mgr ctrl.Manager) error
}

// Help holds a cloud's part in the help of commands.
type Help struct {
	// Variable is an example of a variable in manifests, and Hosts lists examples of the hosts of the cloud's API as a phrase.
	Variable, Hosts string
	// Identities lists the kinds whose objects refer to secrets in the manager's namespace for identities; empty for none.
	Identities string
	// Plan is an example of arguments for "muster plan".
	Plan string
}
