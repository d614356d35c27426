package manager

import (
	"context"
	"fmt"
	"sync"

	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	cloudmetrics "github.com/muster-project/muster/cloud/metrics"
	"github.com/muster-project/muster/kube/metrics"
)

// What is measured is registered once for the process, however many managers it makes.
var (
	driverMetrics      = sync.OnceValues(func() (*cloudmetrics.Metrics, error) { return cloudmetrics.New(ctrlmetrics.Registry) })
	poolMetrics        = sync.OnceValues(func() (*metrics.Pools, error) { return metrics.NewPools(ctrlmetrics.Registry) })
	machinePoolMetrics = sync.OnceValues(func() (*metrics.MachinePools, error) { return metrics.NewMachinePools(ctrlmetrics.Registry) })
)

// addMetrics has the pools measured. MachinePools are measured by the process that runs their controller, while it is the leader.
func (m *Manager) addMetrics(_ context.Context, o Options) error {
	var err error
	if m.pools, err = poolMetrics(); err != nil || !o.runs(MachinePool) {
		return err
	}
	machinePools, err := machinePoolMetrics()
	if err != nil {
		return err
	}
	if err := m.Add(ctrlmanager.RunnableFunc(func(ctx context.Context) error {
		defer machinePools.Serve(m.GetCache())()
		<-ctx.Done()
		return nil
	})); err != nil {
		return fmt.Errorf("add the metrics of MachinePools: %w", err)
	}
	return nil
}
