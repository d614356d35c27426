// Package warnings tells users at admission what is allowed in infrastructure objects and most likely not meant: fields that are
// deprecated, that have no effect, or that do harm. It refuses nothing. What may not be is refused by the schemas, and an API server that
// can't ask for warnings goes on without them.
package warnings

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Webhook returns a webhook that warns about objects of a kind. asked returns the specification without the fields that controllers write.
func Webhook[O runtime.Object](scheme *runtime.Scheme, warn func(O) admission.Warnings, asked func(O) any) *admission.Webhook {
	return admission.WithValidator(scheme, &warner[O]{warn: warn, asked: asked})
}

// warner is a validator that finds nothing wrong.
type warner[O runtime.Object] struct {
	warn  func(O) admission.Warnings
	asked func(O) any
}

// ValidateCreate warns about a new object.
func (w *warner[O]) ValidateCreate(_ context.Context, o O) (admission.Warnings, error) {
	return w.warn(o), nil
}

// ValidateUpdate warns users who change what is asked for. A write of a controller causes no warning.
func (w *warner[O]) ValidateUpdate(_ context.Context, old, o O) (admission.Warnings, error) {
	if equality.Semantic.DeepEqual(w.asked(old), w.asked(o)) {
		return nil, nil
	}
	return w.warn(o), nil
}

// ValidateDelete returns no warning.
func (w *warner[O]) ValidateDelete(context.Context, O) (admission.Warnings, error) { return nil, nil }

// List collects warnings.
type List admission.Warnings

// When adds a warning if its condition holds.
func (l *List) When(holds bool, format string, args ...any) {
	if holds {
		*l = append(*l, fmt.Sprintf(format, args...))
	}
}
