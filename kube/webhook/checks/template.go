// Package checks holds what admission checks of all kinds. Templates of ClusterClasses stay as they are: the topology controller changes
// pools in place, in every Cluster of the class at once, and another template makes that a step of its own, which can be looked at and
// taken back. Warnings tell users what is allowed in an object and most likely not meant: fields that are deprecated, that have no effect,
// or that do harm. They refuse nothing.
package checks

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/cluster-api/util/topology"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// ImmutableTemplate returns a webhook that keeps templates of a kind as they are. spec returns the specification of the pools.
func ImmutableTemplate[T client.Object](scheme *runtime.Scheme, kind schema.GroupKind, spec func(T) any) *admission.Webhook {
	return admission.WithValidator(scheme, &keeper[T]{kind: kind, spec: spec})
}

// keeper refuses changes of what pools are made from.
type keeper[T client.Object] struct {
	kind schema.GroupKind
	spec func(T) any
}

// ValidateCreate has nothing to say: what a pool may be is said by the schema.
func (*keeper[T]) ValidateCreate(context.Context, T) (admission.Warnings, error) { return nil, nil }

// ValidateUpdate refuses a change of the pools' specification. Their labels and annotations may change, and an object that goes
// is let go. The topology controller asks by dry runs what a change would do, and gets its answer.
func (k *keeper[T]) ValidateUpdate(ctx context.Context, old, t T) (admission.Warnings, error) {
	req, err := admission.RequestFromContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("validate a %s: %w", k.kind.Kind, err)
	}
	if topology.IsDryRunRequest(req, t) || t.GetDeletionTimestamp() != nil || equality.Semantic.DeepEqual(k.spec(old), k.spec(t)) {
		return nil, nil
	}
	return nil, apierrors.NewInvalid(k.kind, t.GetName(), field.ErrorList{
		field.Forbidden(field.NewPath("spec", "template", "spec"),
			"can't be changed: make another "+k.kind.Kind+", and have the ClusterClass name it"),
	})
}

// ValidateDelete lets every deletion pass.
func (*keeper[T]) ValidateDelete(context.Context, T) (admission.Warnings, error) { return nil, nil }
