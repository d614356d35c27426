package webhook

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
)

// ToHub gives an object of any version in the one that controllers read, as the conversion webhook would; r finds the
// CustomResourceDefinitions that conversions look up. A kind that is not converted is given back as it is.
func ToHub(ctx context.Context, scheme *runtime.Scheme, r client.Reader, o client.Object) (client.Object, error) {
	gvk := o.GetObjectKind().GroupVersionKind()
	hub, err := hubOf(scheme, gvk.GroupKind())
	if err != nil || hub == nil || hub.GetObjectKind().GroupVersionKind() == gvk {
		return o, err
	}
	into := hub.GetObjectKind().GroupVersionKind()
	switch build := converters()[gvk.GroupKind()]; {
	case build != nil:
		lookUpVersions()
		converter, err := build(scheme)
		if err != nil {
			return nil, fmt.Errorf("convert %s: %w", gvk, err)
		}
		err = converter.ConvertObject(context.WithValue(ctx, readerKey{}, r), o, hub)
		if err != nil {
			return nil, fmt.Errorf("convert %s %s to %s: %w", gvk, o.GetName(), into.Version, err)
		}
	default:
		from, ok := o.(conversion.Convertible)
		to, too := hub.(conversion.Hub)
		if !ok || !too {
			return o, nil
		}
		if err := from.ConvertTo(to); err != nil {
			return nil, fmt.Errorf("convert %s %s to %s: %w", gvk, o.GetName(), into.Version, err)
		}
	}
	hub.GetObjectKind().SetGroupVersionKind(into)
	return hub, nil
}

// hubOf is an empty object of the version that controllers read; nil when there is one version alone.
func hubOf(scheme *runtime.Scheme, gk schema.GroupKind) (client.Object, error) {
	for _, gv := range scheme.VersionsForGroupKind(gk) {
		made, err := scheme.New(gv.WithKind(gk.Kind))
		if err != nil {
			return nil, fmt.Errorf("make a %s: %w", gk, err)
		}
		o, ok := made.(client.Object)
		_, hub := made.(conversion.Hub)
		if ok && (hub || gv == clusterv1.GroupVersion || gv == bootstrapv1.GroupVersion) {
			o.GetObjectKind().SetGroupVersionKind(gv.WithKind(gk.Kind))
			return o, nil
		}
	}
	return nil, nil
}
