package world

import (
	"context"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/preview"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/record"
	"github.com/muster-project/muster/test/explore/script"
)

// Kind is a kind of pool, with what plays it.
type Kind struct {
	*script.Kind
	// Make creates the account, and the functions that act on the pool in it.
	Make func(*World) *Pool
}

// Pool is the pool of a world in its account: how it is made, changed and looked at. What is optional is nil where a kind has none of it.
type Pool struct {
	Account
	Object
	Edits
	OutOfBand
	Rest

	Controllers
}

// Controllers make the reconciler and the planner of the kind, over a driver whose requests take the given way.
type Controllers struct {
	Reconciler func(base http.RoundTripper, o infrapool.Options) Reconcile
	Planner    func(base http.RoundTripper, o infrapool.Options) Look
}

// Control returns the controllers over an adapter and a driver.
func Control[O infrapool.Object, S any](w *World, a infrapool.Adapter[O, S], driver func(http.RoundTripper) cloud.Driver[S]) Controllers {
	return Controllers{
		Reconciler: func(base http.RoundTripper, o infrapool.Options) Reconcile {
			return infrapool.New(a, record.Counted(w.account.costs, driver(base)), o).Reconcile
		},
		Planner: func(base http.RoundTripper, o infrapool.Options) Look {
			return infrapool.NewPlanner(a, driver(base), o).Look
		},
	}
}

// Reconcile is a reconciler's one method.
type Reconcile func(context.Context, ctrl.Request) (ctrl.Result, error)

// Look reads the pool for a plan.
type Look func(ctx context.Context, edited []client.Object, key client.ObjectKey, age time.Duration) (preview.Look, error)

// Account is the simulated account.
type Account struct {
	Cloud Simulator
	// Arrange changes what the oracles read of a snapshot. Optional.
	Arrange func(is sim.Snapshot, c *oracle.Cloud)
	// Describe describes a write without its secrets, and returns the instances that it names: empty for none, nil for all.
	Describe func(service string, req *http.Request, body []byte) (text string, named []string, err error)
	// Accepted returns the state after an accepted request has taken effect, from the present one. Optional.
	Accepted func(call wire.Call, req *http.Request, is oracle.Cloud) oracle.Cloud
	// Annotate tells the oracles about the special effects of a write. Optional.
	Annotate func(call wire.Call, text string, w *oracle.Write)
}

// Simulator is a simulated cloud.
type Simulator interface {
	http.Handler
	Faults() *sim.Faults
	Capabilities() sim.Capabilities
	Close() error
}

// Object is the infrastructure object.
type Object struct {
	// New is one with nothing in it, Applied the one that a user applies.
	New, Applied func() client.Object
	Status       func(client.Object) *common.Status
	// Bounds are those of the number of machines, SetBounds sets them where the object has any.
	Bounds    func(client.Object) (least, most int32)
	SetBounds func(o client.Object, least, most int32)
	// Rolls reports whether the object allows to replace machines with an outdated template; nil means always.
	Rolls func(client.Object) bool
	// SetRollout sets how machines are to be replaced, in the form of the oracles. The MachinePool may be gone.
	SetRollout func(mp *clusterv1.MachinePool, o client.Object, desired *oracle.Desired)
	// Place returns the object that describes the infrastructure of the cluster.
	Place func() Place
	// SetUp prepares the account and the cluster before the object is applied. Optional.
	SetUp func()
}

// Place holds the object that describes the infrastructure of a cluster: an infrastructure cluster, or a control plane.
type Place struct {
	InfraCluster string
	Object       *unstructured.Unstructured
	ControlPlane bool
	// Infrastructure is the infrastructure cluster of a control plane, if it has relevant fields. Optional.
	Infrastructure *unstructured.Unstructured
}

// Edits holds the edits of the infrastructure object by users.
type Edits struct {
	// Template changes the machine template. Bad changes it so that machines never join, Back restores the first one.
	Template  func(o client.Object, n int)
	Bad, Back func(client.Object)
	// Type returns the machine type that the object names.
	Type func(client.Object) string
	// Group changes one field of the group.
	Group func(o client.Object, n, m int)
	// Strategy sets how stale machines are replaced; nil limits are those of a user who sets none. Optional.
	Strategy func(client.Object, *script.Limits)
	// Keep asks for another number of versions of the template that are kept. Optional.
	Keep func(o client.Object, n *int32)
	// Upgrade changes the Kubernetes version of the pool, if its cluster has a field for that. Optional.
	Upgrade func(script.Event)
}

// OutOfBand are the changes that users make in the account. All are optional: a nil one is made as for groups of every kind.
type OutOfBand struct {
	// Change is anything that is done to the pool's group or its machines. Own gives the group back that was taken from the pool.
	Change func(script.Event) error
	Own    func()
	// Resize, Tag and Drop send the requests by which users change the size of a group or a tag, where an empty value removes it, and
	// delete a group. Without them that is done out of band.
	Resize func(ctx context.Context, g *sim.Group, size int) error
	Tag    func(ctx context.Context, g *sim.Group, key, value string) error
	Drop   func(ctx context.Context, g *sim.Group) error
	// Foreign makes what belongs to another owner, DropForeign deletes what of it is in the way. Without Foreign it is there from the
	// beginning.
	Foreign     func(n int)
	DropForeign func()
	// ForAnother makes the group as another provider makes it, and returns its ID as that provider writes it to spec.providerID.
	ForAnother func() string
}

// Rest compares the pool with its objects at the end of a scenario.
type Rest struct {
	// ClearBlockers removes the blockers that keep the cloud from reaching the wanted state. Settle brings a pool that is whole again into a
	// state that can be checked. Both are optional.
	ClearBlockers, Settle func()
	// Unjoined reports whether a machine is still to join, Busy whether the cloud is operating on the group.
	Unjoined, Busy func() bool
	// Want returns the wanted state, Is the actual one, with the same keys.
	Want func(mp *clusterv1.MachinePool, o client.Object) map[string]string
	Is   func() map[string]string
	// Forgive removes unattainable settings from the wanted state. Optional.
	Forgive func(want, is map[string]string)
	// Fragile reports whether the cloud would abandon the group for good because of machines that are not Ready. Optional.
	Fragile func() bool
}

// Plenty is as good as no limit.
const Plenty = 1000
