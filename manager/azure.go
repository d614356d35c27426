package manager

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/controller"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud/azure"
	"github.com/muster-project/muster/cloud/metrics"
	"github.com/muster-project/muster/cloud/trace"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/kube/infrapool"
	azurepool "github.com/muster-project/muster/kube/infrapool/azure"
)

func (m *Manager) addAzureMachinePool(ctx context.Context, o Options) error {
	driver, counters, err := azureDriver(o)
	if err != nil {
		return err
	}
	measured := metrics.Measured[*azurev1.MachinePoolSource](driver, counters, azurev1.AzureMachinePoolKind)
	r := infrapool.New(azurepool.Adapter{}, trace.Traced(measured, o.Tracer), m.poolOptions(AzureMachinePool, o))
	return r.SetupWithManager(ctx, m, controller.Options{MaxConcurrentReconciles: o.Concurrency.AzureMachinePool})
}

// azureDriver is the driver of Azure, whose requests are counted and traced.
func azureDriver(o Options) (*azure.Driver, *metrics.Metrics, error) {
	counters, err := driverMetrics()
	if err != nil {
		return nil, nil, err
	}
	options := o.Azure
	if options.Hook == nil {
		options.Hook = counters
	} else {
		options.Hook = wire.Hooks{options.Hook, counters}
	}
	if options.Around == nil {
		options.Around = trace.Requests(o.Tracer)
	}
	driver, err := azure.New(options)
	return driver, counters, err
}
