package skew

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/machinepool/contract"
)

// Getter reads an object of any kind.
type Getter func(context.Context, schema.GroupVersionKind, client.ObjectKey) (*unstructured.Unstructured, error)

// GetterFor returns a Getter that reads every kind as unstructured objects.
func GetterFor(r client.Reader) Getter {
	return func(ctx context.Context, gvk schema.GroupVersionKind, key client.ObjectKey) (*unstructured.Unstructured, error) {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(gvk)
		return o, r.Get(ctx, key, o)
	}
}

// +kubebuilder:rbac:groups=controlplane.cluster.x-k8s.io,resources=kubeadmcontrolplanes;awsmanagedcontrolplanes,verbs=get;list;watch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=ocimanagedcontrolplanes,verbs=get;list;watch

// Read reads the version of a Cluster's control plane of any kind: spec.version is a field of the contract. The version is empty if the
// control plane does not exist yet or its kind has no such field. get reads an object; definitions reads the CustomResourceDefinition of
// the kind, and should be cached.
func Read(ctx context.Context, get Getter, definitions client.Reader, cluster *clusterv1.Cluster) (ControlPlane, error) {
	ref := cluster.Spec.ControlPlaneRef
	if !ref.IsDefined() {
		return ControlPlane{}, nil
	}
	found := ControlPlane{Kind: ref.Kind, Name: ref.Name}
	gvk, err := contract.GVK(ctx, definitions, ref.GroupKind())
	switch {
	case errors.Is(err, contract.ErrNoKind) || errors.Is(err, contract.ErrNoVersion):
		return found, nil
	case err != nil:
		return found, err
	}
	o, err := get(ctx, gvk, client.ObjectKey{Namespace: cluster.Namespace, Name: ref.Name})
	if err != nil {
		if apierrors.IsNotFound(err) {
			return found, nil
		}
		return found, fmt.Errorf("read %s %s: %w", ref.Kind, ref.Name, err)
	}
	// A field of another type is ignored.
	found.Version, _, _ = unstructured.NestedString(o.Object, "spec", "version")
	return found, nil
}
