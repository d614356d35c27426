package machinepool_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kubenodes "github.com/muster-project/muster/kube/nodes"
)

// feed is the source from which a cache reads a kind.
type feed func(o runtime.Object) (list runtime.Object, changes watch.Interface, err error)

// lister hands a feed to an informer. The changes are watched before the list is read, so that none is lost.
type lister struct {
	read    func() (runtime.Object, watch.Interface, error)
	changes watch.Interface
}

// List reads all.
func (l *lister) List(metav1.ListOptions) (list runtime.Object, err error) {
	list, l.changes, err = l.read()
	return list, err
}

// Watch tells the changes since.
func (l *lister) Watch(metav1.ListOptions) (watch.Interface, error) { return l.changes, nil }

// IsWatchListSemanticsUnSupported reports whether lists do not come as changes.
func (l *lister) IsWatchListSemanticsUnSupported() bool { return true }

// newCache is a manager's cache with a feed in the place of an API server.
func newCache(tb testing.TB, scheme *runtime.Scheme, from feed) cache.Cache {
	tb.Helper()
	c, err := cache.New(&rest.Config{}, cache.Options{Scheme: scheme, Mapper: mapper(),
		NewInformer: func(_ toolscache.ListerWatcher, o runtime.Object, resync time.Duration,
			by toolscache.Indexers) toolscache.SharedIndexInformer {
			read := func() (runtime.Object, watch.Interface, error) { return from(o) }
			return toolscache.NewSharedIndexInformer(&lister{read: read}, o, resync, by)
		}})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// stored reads from a store.
func stored(store client.WithWatch) feed {
	return func(o runtime.Object) (runtime.Object, watch.Interface, error) {
		list, err := listOf(store.Scheme(), o)
		if err != nil {
			return nil, nil, err
		}
		changes, err := store.Watch(context.Background(), list)
		if err != nil {
			return nil, nil, err
		}
		return list, changes, store.List(context.Background(), list)
	}
}

// listOf is an empty list of an object's kind, in the object's own form.
func listOf(scheme *runtime.Scheme, o runtime.Object) (client.ObjectList, error) {
	switch o := o.(type) {
	case *unstructured.Unstructured:
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(o.GroupVersionKind().GroupVersion().WithKind(o.GetKind() + "List"))
		return list, nil
	case *metav1.PartialObjectMetadata:
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(o.GroupVersionKind().GroupVersion().WithKind(o.Kind + "List"))
		return list, nil
	}
	kinds, _, err := scheme.ObjectKinds(o)
	if err != nil {
		return nil, err
	}
	list, err := scheme.New(kinds[0].GroupVersion().WithKind(kinds[0].Kind + "List"))
	if err != nil {
		return nil, err
	}
	return list.(client.ObjectList), nil
}

// listed is a list that nothing changes.
func listed(list runtime.Object) feed {
	return func(runtime.Object) (runtime.Object, watch.Interface, error) { return list, watch.NewFake(), nil }
}

// management are the objects of the management cluster: a Cluster, its pools, and what they refer to.
func management() []client.Object {
	all := []client.Object{definition("testmachinepools", infraGVK), definition("testconfigs", configGVK), &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: clusterKey.Namespace, Name: clusterKey.Name, UID: "cluster"},
		Status: clusterv1.ClusterStatus{
			Initialization: clusterv1.ClusterInitializationStatus{ControlPlaneInitialized: ptr.To(true)},
			Conditions: []metav1.Condition{{Type: clusterv1.ClusterControlPlaneInitializedCondition, Status: metav1.ConditionTrue,
				Reason: "Initialized", LastTransitionTime: metav1.Unix(1, 0)}},
		},
	}}
	for _, machines := range poolSizes {
		all = append(all, restingPool(machines), object(configGVK, machines, nil, map[string]any{
			"ready": true, "initialization": map[string]any{"dataSecretCreated": true}, "dataSecretName": "data"}))
		var ids []any
		for i := range machines {
			ids = append(ids, providerID(poolName(machines), i))
		}
		all = append(all, object(infraGVK, machines, map[string]any{"providerIDList": ids}, map[string]any{
			"ready": true, "initialization": map[string]any{"provisioned": true}, "replicas": int64(machines), "upToDateReplicas": int64(machines)}))
	}
	return all
}

func restingPool(machines int) *clusterv1.MachinePool {
	name := poolName(machines)
	return &clusterv1.MachinePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: clusterKey.Namespace, Name: name, UID: types.UID(name), Generation: 1},
		Spec: clusterv1.MachinePoolSpec{ClusterName: clusterKey.Name, Replicas: ptr.To(int32(machines)),
			Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{ClusterName: clusterKey.Name, Version: "v1.36.0",
				Bootstrap: clusterv1.Bootstrap{ConfigRef: clusterv1.ContractVersionedObjectReference{APIGroup: configGVK.Group,
					Kind: configGVK.Kind, Name: name}},
				InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: infraGVK.Group, Kind: infraGVK.Kind, Name: name}}}},
	}
}

func object(gvk schema.GroupVersionKind, machines int, spec, status map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec, "status": status}}
	o.SetGroupVersionKind(gvk)
	o.SetNamespace(clusterKey.Namespace)
	o.SetName(poolName(machines))
	o.SetUID(types.UID(gvk.Kind + poolName(machines)))
	return o
}

func definition(plural string, gvk schema.GroupVersionKind) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: plural + "." + gvk.Group,
		Labels: map[string]string{"cluster.x-k8s.io/v1beta1": gvk.Version, "cluster.x-k8s.io/v1beta2": gvk.Version}}}
}

func providerID(pool string, i int) string {
	return fmt.Sprintf("aws:///eu-west-1a/i-%s-%08d", pool, i)
}

// manyNodes are the nodes of the measured pools and of others, of a hundred machines each, so many in all.
func manyNodes(number int) *corev1.NodeList {
	list := &corev1.NodeList{Items: make([]corev1.Node, 0, number)}
	for _, machines := range poolSizes {
		for i := range machines {
			list.Items = append(list.Items, node(poolName(machines), i))
		}
	}
	for i := 0; len(list.Items) < number; i++ {
		list.Items = append(list.Items, node(fmt.Sprintf("other-%d", i/100), i%100))
	}
	return list
}

// node is as large as a node is without its images and managed fields, which managers do not keep.
func node(pool string, i int) corev1.Node {
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: fmt.Sprintf("ip-%s-%d.eu-west-1.compute.internal", pool, i), UID: types.UID(fmt.Sprintf("%s-%d", pool, i)), ResourceVersion: "1",
		Labels: map[string]string{}, Annotations: map[string]string{
			clusterv1.ClusterNameAnnotation: clusterKey.Name, clusterv1.ClusterNamespaceAnnotation: clusterKey.Namespace,
			clusterv1.OwnerKindAnnotation: kubenodes.OwnerKindMachinePool, clusterv1.OwnerNameAnnotation: pool,
			"node.alpha.kubernetes.io/ttl": "0", "volumes.kubernetes.io/controller-managed-attach-detach": "true",
		}},
		Spec: corev1.NodeSpec{ProviderID: providerID(pool, i), PodCIDR: "10.0.0.0/24", PodCIDRs: []string{"10.0.0.0/24"}}}
	for l := range 15 {
		n.Labels[fmt.Sprintf("example.com/label-%d", l)] = "value"
	}
	for _, t := range []corev1.NodeConditionType{corev1.NodeReady, corev1.NodeMemoryPressure, corev1.NodeDiskPressure,
		corev1.NodePIDPressure} {
		status := corev1.ConditionFalse
		if t == corev1.NodeReady {
			status = corev1.ConditionTrue
		}
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: t, Status: status, Reason: "Kubelet",
			Message:           "as it should be",
			LastHeartbeatTime: metav1.Unix(2, 0), LastTransitionTime: metav1.Unix(1, 0)})
	}
	n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.0.0.1"}, {Type: corev1.NodeHostName, Address: n.Name}}
	n.Status.Capacity = corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("16Gi"),
		"pods": resource.MustParse("110")}
	n.Status.Allocatable = n.Status.Capacity.DeepCopy()
	n.Status.NodeInfo = corev1.NodeSystemInfo{KubeletVersion: "v1.36.0", ContainerRuntimeVersion: "containerd://2.1.0", OSImage: "Linux",
		Architecture: "amd64"}
	return n
}
