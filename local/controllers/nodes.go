package controllers

import (
	"context"

	"k8s.io/kubernetes/pkg/controller/nodelifecycle"
	"k8s.io/kubernetes/pkg/controller/podgc"
	"k8s.io/kubernetes/pkg/controller/tainteviction"
)

func (o Options) nodeLifecycle(ctx context.Context, e *environment) (task, error) {
	core := e.informers.Core().V1()
	c, err := nodelifecycle.NewNodeLifecycleController(ctx, e.informers.Coordination().V1().Leases(), core.Pods(), core.Nodes(),
		e.informers.Apps().V1().DaemonSets(), e.client, nodeMonitorPeriod, nodeStartupGrace, o.nodeMonitorGrace(),
		evictionRate, secondaryEvictionRate, largeClusterSize, unhealthyZoneThreshold)
	if err != nil {
		return nil, err
	}
	return c.Run, nil
}

func taintEviction(ctx context.Context, e *environment) (task, error) {
	core := e.informers.Core().V1()
	c, err := tainteviction.New(ctx, e.client, core.Pods(), core.Nodes(), "taint-eviction-controller")
	if err != nil {
		return nil, err
	}
	return c.Run, nil
}

func podGarbage(ctx context.Context, e *environment) (task, error) {
	core := e.informers.Core().V1()
	return podgc.NewPodGC(ctx, e.client, core.Pods(), core.Nodes(), terminatedPods).Run, nil
}
