package controllers

import (
	"context"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/statefulset"
	"k8s.io/kubernetes/pkg/scheduler"
)

const (
	// daemonBackOff and daemonBackOffLimit space out the pods of a DaemonSet that fail again and again.
	daemonBackOff, daemonBackOffLimit = time.Second, 15 * time.Minute
)

// disruptions keeps the status of PodDisruptionBudgets, without which every eviction is refused.
func disruptions(ctx context.Context, e *environment) (task, error) {
	scales, err := scale.NewForConfig(e.config, e.mapper, dynamic.LegacyAPIPathResolverFunc,
		scale.NewDiscoveryScaleKindResolver(e.client.Discovery()))
	if err != nil {
		return nil, err
	}
	core, apps := e.informers.Core().V1(), e.informers.Apps().V1()
	c := disruption.NewDisruptionController(ctx, core.Pods(), e.informers.Policy().V1().PodDisruptionBudgets(), core.ReplicationControllers(),
		apps.ReplicaSets(), apps.Deployments(), apps.StatefulSets(), e.client, e.mapper, scales, e.client.Discovery())
	return c.Run, nil
}

func deployments(ctx context.Context, e *environment) (task, error) {
	apps := e.informers.Apps().V1()
	c, err := deployment.NewDeploymentController(ctx, apps.Deployments(), apps.ReplicaSets(), e.informers.Core().V1().Pods(), e.client)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, workers) }, nil
}

func replicaSets(ctx context.Context, e *environment) (task, error) {
	c := replicaset.NewReplicaSetController(ctx, e.informers.Apps().V1().ReplicaSets(), e.informers.Core().V1().Pods(), e.client,
		replicaset.BurstReplicas)
	return func(ctx context.Context) { c.Run(ctx, workers) }, nil
}

func daemonSets(ctx context.Context, e *environment) (task, error) {
	core, apps := e.informers.Core().V1(), e.informers.Apps().V1()
	c, err := daemon.NewDaemonSetsController(ctx, apps.DaemonSets(), apps.ControllerRevisions(), core.Pods(), core.Nodes(), e.client,
		flowcontrol.NewBackOff(daemonBackOff, daemonBackOffLimit))
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, workers) }, nil
}

func statefulSets(ctx context.Context, e *environment) (task, error) {
	core, apps := e.informers.Core().V1(), e.informers.Apps().V1()
	c := statefulset.NewStatefulSetController(ctx, core.Pods(), apps.StatefulSets(), core.PersistentVolumeClaims(), apps.ControllerRevisions(),
		e.client)
	return func(ctx context.Context) { c.Run(ctx, workers) }, nil
}

// kubeScheduler returns the default scheduler. It has separate informers, because it watches only the pods that have not ended.
func kubeScheduler(ctx context.Context, e *environment) (task, error) {
	factory := scheduler.NewInformerFactory(e.client, 0)
	broadcaster := events.NewEventBroadcasterAdapterWithContext(ctx, e.client)
	s, err := scheduler.New(ctx, e.client, factory, nil, broadcaster.NewRecorder)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) {
		broadcaster.StartRecordingToSink(ctx.Done())
		defer broadcaster.Shutdown()
		factory.Start(ctx.Done())
		defer factory.Shutdown()
		factory.WaitForCacheSync(ctx.Done())
		if err := s.WaitForHandlersSync(ctx); err != nil {
			return
		}
		s.Run(ctx)
	}, nil
}
