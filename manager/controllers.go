package manager

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/cloud/aws/nodegroup"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/metrics"
	"github.com/muster-project/muster/cloud/trace"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/kube/access"
	"github.com/muster-project/muster/kube/infrapool"
	awspool "github.com/muster-project/muster/kube/infrapool/aws"
	"github.com/muster-project/muster/kube/infrapool/awsmanaged"
	"github.com/muster-project/muster/kube/machinepool"
)

// addControllers adds the controllers that are switched on.
func (m *Manager) addControllers(ctx context.Context, o Options) error {
	for _, c := range []struct {
		name string
		add  func(context.Context, Options) error
	}{
		{MachinePool, m.addMachinePool},
		{AWSMachinePool, m.addAWSMachinePool},
		{AWSManagedMachinePool, m.addAWSManagedMachinePool},
		{AzureMachinePool, m.addAzureMachinePool},
		{AzureJSON, m.addAzureJSON},
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
	reviewer := access.New(m.GetClient(), nil)
	r := &machinepool.Reconciler{Client: m.GetClient(), Live: m.GetAPIReader(), ClusterCache: m.ClusterCache, WatchFilterValue: o.WatchFilter, Passes: trace.NewPasses(o.Tracer),
		SyncLabels: o.SyncLabels, SyncAnnotations: o.SyncAnnotations,
		MayWatch: func(ctx context.Context, gvk schema.GroupVersionKind) error {
			return reviewer.MayWatch(ctx, gvk, o.Namespace)
		}}
	return r.SetupWithManager(ctx, m, controller.Options{MaxConcurrentReconciles: o.Concurrency.MachinePool})
}

func (m *Manager) addAWSMachinePool(ctx context.Context, o Options) error {
	sessions, counters, err := m.awsSessions(o)
	if err != nil {
		return err
	}
	measured := metrics.Measured[*awsv1.MachinePoolSource](aws.Over(sessions), counters, awsv1.AWSMachinePoolKind)
	r := infrapool.New(awspool.Adapter{}, trace.Traced(measured, o.Tracer), m.poolOptions(AWSMachinePool, o))
	return r.SetupWithManager(ctx, m, controller.Options{MaxConcurrentReconciles: o.Concurrency.AWSMachinePool})
}

func (m *Manager) addAWSManagedMachinePool(ctx context.Context, o Options) error {
	sessions, counters, err := m.awsSessions(o)
	if err != nil {
		return err
	}
	measured := metrics.Measured[*awsv1.ManagedMachinePoolSource](nodegroup.Over(sessions, nodegroupOptions(o)), counters, awsv1.AWSManagedMachinePoolKind)
	r := infrapool.New(awsmanaged.Adapter{}, trace.Traced(measured, o.Tracer), m.poolOptions(AWSManagedMachinePool, o))
	return r.SetupWithManager(ctx, m, controller.Options{MaxConcurrentReconciles: o.Concurrency.AWSManagedMachinePool})
}

// nodegroupOptions are what the gates let the driver of node groups do.
func nodegroupOptions(o Options) nodegroup.Options {
	return nodegroup.Options{EnableIAM: o.Gates.EKSEnableIAM, AllowAddRoles: o.Gates.EKSAllowAddRoles}
}

// awsOptions are those of the sessions with AWS, as the gates have them.
func awsOptions(o Options) session.Options {
	options := o.AWS
	options.BootstrapFormatIgnition = options.BootstrapFormatIgnition || o.Gates.BootstrapFormatIgnition
	return options
}

// awsSessions are the sessions that all kinds of pools on AWS share, made when the first of them asks.
func (m *Manager) awsSessions(o Options) (*session.Sessions, *metrics.Metrics, error) {
	counters, err := driverMetrics()
	if err != nil || m.sessions != nil {
		return m.sessions, counters, err
	}
	options := awsOptions(o)
	if options.Hook == nil {
		options.Hook = counters
	} else {
		options.Hook = wire.Hooks{options.Hook, counters}
	}
	if options.Around == nil {
		options.Around = trace.Requests(o.Tracer)
	}
	if m.sessions, err = session.New(options); err != nil {
		return nil, nil, fmt.Errorf("make the sessions with AWS: %w", err)
	}
	return m.sessions, counters, nil
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
		Passes:            trace.NewPasses(o.Tracer),
		Metrics:           m.pools,

		SkipModelReconciliation: o.Gates.SkipMachinePoolModelReconciliation,
		Machines:                o.Gates.MachinePoolMachines,
	}
}
