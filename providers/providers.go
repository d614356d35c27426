// Package providers describes what the manager runs for a cloud: one value a cloud, which lists of its kinds, webhooks, gates and
// permissions are made from. Package all lists the values.
package providers

import (
	"context"
	"io"

	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/metrics"
	"github.com/muster-project/muster/cloud/trace"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/kube/infrapool/preview"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/kube/webhook"
	"github.com/muster-project/muster/providers/gates"
)

// Provider describes the parts of the manager for one cloud.
type Provider struct {
	// Name of the cloud in options, as its folder is called: aws. Title is its name for users.
	Name, Title string
	// AddToScheme adds the kinds, in every version.
	AddToScheme []func(*runtime.Scheme) error
	// Controllers that Connect sets up.
	Controllers []Controller
	// Hooks are the admission webhooks of the kinds, and Converted the CustomResourceDefinitions whose versions a webhook converts.
	Hooks     []webhook.Hook
	Converted []string
	Gates     []gates.Gate
	// Connect creates the clients of the cloud, once for a manager, and the controllers that use them. It does not call the cloud.
	Connect func(Environment) (*Connection, error)
	// Existing is the provider whose manager can run the same kinds; it must not run them at the same time as Muster.
	Existing Existing
	// NodeHolds are the marks by which the cloud's own upgrades leave Nodes alone.
	NodeHolds []nodes.Mark
	// Identities resolves the identities that the clusters of this cloud reference.
	Identities Identities
	// Permissions creates, for one run of a command, the document with the permissions that the credentials need.
	Permissions func() Permissions
}

// Existing describes another provider that can run the same kinds.
type Existing struct {
	// Label is the value of the label cluster.x-k8s.io/provider on its Deployment, and Title its name for users.
	Label, Title string
	// PoolGate is the feature gate that runs its controllers of pools, PoolGateDefault its default, and Variable what clusterctl sets it by.
	// It is empty if they always run.
	PoolGate, Variable string
	PoolGateDefault    bool
	// ManagedGate is the feature gate, off by default, that runs its controllers of the cloud's own node pools, and ManagedVariable what
	// clusterctl sets it by; empty if PoolGate runs those too.
	ManagedGate, ManagedVariable string
}

// Identities checks whether the identity of a cluster can be used.
type Identities struct {
	// Clusters are the kinds of objects that name an identity.
	Clusters []schema.GroupKind
	// Check follows the identity that an object names, and returns its name, as KIND/NAME; empty for the manager's own credentials. An
	// *identity.Error says why it can't be used; other errors are those of the API server. Values of secrets are not kept.
	Check func(ctx context.Context, by identity.Referrer, from *identity.Credentials) (string, error)
}

// Controller is a controller that can be enabled by its name.
type Controller struct {
	Name string
	// Objects names the controller's objects, in the plural, for the help text of the flag that sets its concurrency. If it is empty there
	// is no such flag, and one worker.
	Objects string
	// Gate is the feature gate that enables the controller; nil if it has none.
	Gate *gates.Gate
	// Kind of its objects, in the version that it reads. It is not set up where that is not served; empty if nothing of Muster's need be.
	Kind schema.GroupVersionKind
}

// Environment holds the manager's parts that a provider uses.
type Environment struct {
	// Manager is nil if pools are only planned for.
	Manager ctrl.Manager
	// Pools are the options of the reconcilers of infrastructure kinds, those of the named controller.
	Pools func(controller string) infrapool.Options
	Gates gates.Gates
	// Metrics count what drivers do; nil counts nothing. Tracer makes spans; nil makes none.
	Metrics *metrics.Metrics
	Tracer  oteltrace.Tracer
}

// Hook returns the hook that observes every request to the cloud.
func (e Environment) Hook() wire.Hook {
	if e.Metrics == nil {
		return nil
	}
	return e.Metrics
}

// Around returns the hook that observes the start of every request to the cloud.
func (e Environment) Around() wire.Around { return trace.Requests(e.Tracer) }

// Connection holds the controllers and planners that use one provider's clients.
type Connection struct {
	// Setups add the controllers to the manager, by name.
	Setups map[string]Setup
	// Planners observe pools as the controllers do, and change nothing.
	Planners []preview.Planner
}

// Setup adds a controller to the manager.
type Setup func(ctx context.Context, o controller.Options) error

// AddPools adds the controller and the planner of a kind of pools.
func AddPools[O infrapool.Object, S any](c *Connection, e Environment, name, kind string, adapter infrapool.Adapter[O, S],
	driver cloud.Driver[S]) {
	if e.Manager == nil {
		c.Planners = append(c.Planners, infrapool.NewPlanner(adapter, driver, e.Pools(name)))
		return
	}
	if e.Metrics != nil {
		driver = metrics.Measured(driver, e.Metrics, kind)
	}
	if c.Setups == nil {
		c.Setups = map[string]Setup{}
	}
	c.Setups[name] = func(ctx context.Context, o controller.Options) error {
		return infrapool.New(adapter, trace.Traced(driver, e.Tracer), e.Pools(name)).SetupWithManager(ctx, e.Manager, o)
	}
}

// Permissions prints what the controllers' credentials must allow in one cloud.
type Permissions struct {
	// About is for the command's help: what is printed and what bounds it. Examples are command lines.
	About, Examples string
	// AddFlags adds the flags that this cloud knows.
	AddFlags func(*pflag.FlagSet)
	// Document writes the policy or role as the cloud takes it, and remarks to notes.
	Document func(out, notes io.Writer) error
	// Actions returns each action with the reason why it is needed and where it is allowed.
	Actions func() ([]Action, error)
}

// Action is one action that credentials must allow.
type Action struct{ Name, Why, Where string }
