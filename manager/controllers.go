package manager

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/muster-project/muster/cloud/trace"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/machinepool"
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
	for _, p := range all.Providers() {
		if err := m.addProvider(ctx, p, o); err != nil {
			return err
		}
	}
	return nil
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

// poolOptions are what the reconcilers of all infrastructure kinds work with.
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
		MayWatch: func(ctx context.Context, gvk schema.GroupVersionKind) error {
			return m.reviewer.MayWatch(ctx, gvk, corev1.NamespaceAll)
		},
		Passes:      trace.NewPasses(o.Tracer),
		Metrics:     m.pools,
		Definitions: m.kinds.Checker,

		SkipModelReconciliation: o.Gates.SkipMachinePoolModelReconciliation,
		Machines:                o.Gates.MachinePoolMachines,
	}
}
