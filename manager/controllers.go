package manager

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/cloud/trace"
	"github.com/muster-project/muster/kube/access"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/machinepool"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/kube/policy"
	"github.com/muster-project/muster/kube/policy/limiter"
	policystatus "github.com/muster-project/muster/kube/policy/status"
	"github.com/muster-project/muster/providers"
	"github.com/muster-project/muster/providers/all"
)

// addControllers adds the controllers that are switched on.
func (m *Manager) addControllers(ctx context.Context, o Options) error {
	if o.runs(MachinePool) {
		if err := m.addMachinePool(ctx, o); err != nil {
			return fmt.Errorf("add controller %s: %w", MachinePool, err)
		}
	}
	if err := m.addRolloutPolicies(ctx, o); err != nil {
		return err
	}
	for _, p := range all.Providers() {
		if err := m.addProvider(ctx, p, o); err != nil {
			return err
		}
	}
	return nil
}

// addRolloutPolicies has policies limit rollouts, and adds the controllers that report their state, if their kinds are served.
func (m *Manager) addRolloutPolicies(ctx context.Context, o Options) error {
	for _, kind := range []string{musterv1.RolloutPolicyKind, musterv1.ClusterRolloutPolicyKind} {
		if served, err := m.serves(ctx, musterv1.GroupVersion.WithKind(kind)); err != nil || !served {
			return err
		}
	}
	m.policies = &limiter.Limiter{Policies: &policy.Reader{Client: m.GetClient(), MayWatch: mayWatch(m.reviewer, o.Namespace)},
		Gates: m.gates, Ledger: &limiter.Ledger{}}
	if !o.runs(RolloutPolicy) {
		return nil
	}
	r := &policystatus.Reconciler{Client: m.GetClient(), Policies: &policy.Reader{Client: m.GetClient()}}
	return r.SetupWithManager(m, controller.Options{})
}

// mayWatch returns a function that returns an error if the manager may not list and watch a kind: RolloutPolicies in its namespace, if it
// is limited to one, every other kind without a namespace.
func mayWatch(r *access.Reviewer, namespace string) func(context.Context, schema.GroupVersionKind) error {
	return func(ctx context.Context, gvk schema.GroupVersionKind) error {
		if gvk == musterv1.GroupVersion.WithKind(musterv1.RolloutPolicyKind) {
			return r.MayWatch(ctx, gvk, namespace)
		}
		return r.MayWatch(ctx, gvk, corev1.NamespaceAll)
	}
}

// addProvider adds the controllers of a provider that are switched on. A provider of which none is gets no clients.
func (m *Manager) addProvider(ctx context.Context, p providers.Provider, o Options) error {
	var connection *providers.Connection
	for _, c := range p.Controllers {
		if !o.runs(c.Name) {
			continue
		}
		served, err := m.serves(ctx, c.Kind)
		if err != nil {
			return err
		}
		if !served {
			continue
		}
		if connection == nil {
			if connection, err = m.connect(p, o); err != nil {
				return err
			}
		}
		if err := connection.Setups[c.Name](ctx, controller.Options{MaxConcurrentReconciles: o.workers(c)}); err != nil {
			return fmt.Errorf("add controller %s: %w", c.Name, err)
		}
	}
	return nil
}

// connect makes a provider's clients, whose requests are counted and traced. The connection has a setup for each of its controllers.
func (m *Manager) connect(p providers.Provider, o Options) (*providers.Connection, error) {
	counters, err := driverMetrics()
	if err != nil {
		return nil, err
	}
	connection, err := p.Connect(providers.Environment{
		Manager: m, Pools: func(controller string) infrapool.Options { return m.poolOptions(controller, o) },
		Gates: o.Gates, Metrics: counters, Tracer: o.Tracer,
	})
	if err != nil {
		return nil, err
	}
	return connection, providers.CheckSetups(p, o.Gates, connection)
}

func (m *Manager) addMachinePool(ctx context.Context, o Options) error {
	r := &machinepool.Reconciler{Client: m.GetClient(), Live: m.GetAPIReader(), ClusterCache: m.ClusterCache, WatchFilterValue: o.WatchFilter,
		Passes:     trace.NewPasses(o.Tracer),
		SyncLabels: o.SyncLabels, SyncAnnotations: o.SyncAnnotations,
		MayWatch: func(ctx context.Context, gvk schema.GroupVersionKind) error {
			return m.reviewer.MayWatch(ctx, gvk, o.Namespace)
		}}
	return r.SetupWithManager(ctx, m, controller.Options{MaxConcurrentReconciles: o.Concurrency.MachinePool})
}

// foreignHolds returns the marks of other tools that rollouts honor; none without ForeignHolds.
func foreignHolds(o Options) []nodes.Mark {
	if !o.ForeignHolds {
		return nil
	}
	marks := []nodes.Mark{nodes.DoNotDisrupt}
	for _, p := range all.Providers() {
		marks = append(marks, p.NodeHolds...)
	}
	return marks
}

// poolOptions returns the options of the reconcilers of all infrastructure kinds.
func (m *Manager) poolOptions(controller string, o Options) infrapool.Options {
	return infrapool.Options{
		Client:       m.GetClient(),
		Live:         m.GetAPIReader(),
		ClusterCache: m.ClusterCache,
		Recorder:     m.GetEventRecorder(controller),
		WatchFilter:  o.WatchFilter,
		Steady:       o.Steady,

		IdentityNamespace: o.IdentityNamespace,
		OwnCredentials:    o.OwnCredentials,
		IdentityEndpoints: o.IdentityEndpoints,
		Policies:          m.policies,
		ForeignHolds:      foreignHolds(o),
		MayWatch:          mayWatch(m.reviewer, o.Namespace),
		Passes:            trace.NewPasses(o.Tracer),
		Metrics:           m.pools,
		Definitions:       m.kinds.Checker,

		SkipModelReconciliation: o.Gates.SkipMachinePoolModelReconciliation,
		Machines:                o.Gates.MachinePoolMachines,
	}
}
