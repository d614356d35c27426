// Package objects reads and writes objects of kinds that the clouds' own providers define, as their controllers do.
package objects

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// New returns an empty object of a kind.
func New(kind schema.GroupVersionKind) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kind)
	return o
}

// DecodeSpec decodes the specification of an object.
func DecodeSpec(o *unstructured.Unstructured, into any) error {
	text, err := json.Marshal(o.Object["spec"])
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("read the specification of %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return nil
}

// OwnerOf returns the Cluster that owns an object; nil before core has claimed it, or when the Cluster is gone.
func OwnerOf(ctx context.Context, c client.Client, o client.Object) (*clusterv1.Cluster, error) {
	cluster, err := util.GetOwnerCluster(ctx, c, metav1.ObjectMeta{Namespace: o.GetNamespace(), OwnerReferences: o.GetOwnerReferences()})
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("find the Cluster of %s: %w", client.ObjectKeyFromObject(o), err)
	}
	return cluster, nil
}

// Change changes an object except its status. An unchanged object is not written.
func Change(ctx context.Context, c client.Client, o *unstructured.Unstructured, do func(*unstructured.Unstructured) error) error {
	return change(o, do, func(p client.Patch) error { return c.Patch(ctx, o, p) })
}

// ChangeStatus changes the status of an object. What stays as it was is not written.
func ChangeStatus(ctx context.Context, c client.Client, o *unstructured.Unstructured, do func(*unstructured.Unstructured) error) error {
	return change(o, do, func(p client.Patch) error { return c.Status().Patch(ctx, o, p) })
}

func change(o *unstructured.Unstructured, do func(*unstructured.Unstructured) error, write func(client.Patch) error) error {
	before := o.DeepCopy()
	if err := do(o); err != nil || equality.Semantic.DeepEqual(before.Object, o.Object) {
		return err
	}
	return write(client.MergeFrom(before))
}

// OfControlPlane leads from a Cluster to its control plane, if that is of the kind.
func OfControlPlane(kind schema.GroupVersionKind) handler.EventHandler {
	return referred(kind, func(c *clusterv1.Cluster) clusterv1.ContractVersionedObjectReference { return c.Spec.ControlPlaneRef })
}

// OfInfrastructure leads from a Cluster to its infrastructure, if that is of the kind.
func OfInfrastructure(kind schema.GroupVersionKind) handler.EventHandler {
	return referred(kind, func(c *clusterv1.Cluster) clusterv1.ContractVersionedObjectReference { return c.Spec.InfrastructureRef })
}

func referred(kind schema.GroupVersionKind, by func(*clusterv1.Cluster) clusterv1.ContractVersionedObjectReference) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
		c, ok := o.(*clusterv1.Cluster)
		if !ok || by(c).Kind != kind.Kind {
			return nil
		}
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: c.Namespace, Name: by(c).Name}}}
	})
}
