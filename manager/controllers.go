package manager

import (
	"context"
	"fmt"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/controller"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/cloud/metrics"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/kube/infrapool"
	awspool "github.com/muster-project/muster/kube/infrapool/aws"
	"github.com/muster-project/muster/kube/machinepool"
)

// driverMetrics are registered once for the process, however many managers it makes.
var driverMetrics = sync.OnceValues(func() (*metrics.Metrics, error) { return metrics.New(ctrlmetrics.Registry) })

// addControllers adds the controllers that are switched on.
func (m *Manager) addControllers(ctx context.Context, o Options) error {
	for _, c := range []struct {
		name string
		add  func(context.Context, Options) error
	}{
		{MachinePool, m.addMachinePool},
		{AWSMachinePool, m.addAWSMachinePool},
	} {
		if !o.runs(c.name) {
			continue
		}
		if err := c.add(ctx, o); err != nil {
			return fmt.Errorf("add controller %s: %w", c.name, err)
		}
	}
	return nil
}

func (m *Manager) addMachinePool(ctx context.Context, o Options) error {
	r := &machinepool.Reconciler{Client: m.GetClient(), Live: m.GetAPIReader(), ClusterCache: m.ClusterCache, WatchFilterValue: o.WatchFilter}
	return r.SetupWithManager(ctx, m, controller.Options{MaxConcurrentReconciles: o.Concurrency.MachinePool})
}

func (m *Manager) addAWSMachinePool(ctx context.Context, o Options) error {
	counters, err := driverMetrics()
	if err != nil {
		return err
	}
	options := o.AWS
	if options.Hook == nil {
		options.Hook = counters
	} else {
		options.Hook = wire.Hooks{options.Hook, counters}
	}
	driver, err := aws.New(options)
	if err != nil {
		return fmt.Errorf("make the driver: %w", err)
	}
	measured := metrics.Measured[*awsv1.MachinePoolSource](driver, counters, awsv1.AWSMachinePoolKind)
	r := infrapool.New(awspool.Adapter{}, measured, m.poolOptions(AWSMachinePool, o))
	return r.SetupWithManager(ctx, m, controller.Options{MaxConcurrentReconciles: o.Concurrency.AWSMachinePool})
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

		SkipModelReconciliation: o.Gates.SkipMachinePoolModelReconciliation,
		Machines:                o.Gates.MachinePoolMachines,
	}
}
