package checks

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// WarningWebhook returns a webhook that warns about objects of a kind. userSpec returns the specification without the fields that
// controllers write.
func WarningWebhook[O runtime.Object](scheme *runtime.Scheme, warn func(O) admission.Warnings, userSpec func(O) any) *admission.Webhook {
	return admission.WithValidator(scheme, &warner[O]{warn: warn, userSpec: userSpec})
}

// warner is a validator that finds nothing wrong.
type warner[O runtime.Object] struct {
	warn     func(O) admission.Warnings
	userSpec func(O) any
}

// ValidateCreate warns about a new object.
func (w *warner[O]) ValidateCreate(_ context.Context, o O) (admission.Warnings, error) {
	return w.warn(o), nil
}

// ValidateUpdate warns users who change the specification. A write of a controller causes no warning.
func (w *warner[O]) ValidateUpdate(_ context.Context, old, o O) (admission.Warnings, error) {
	if equality.Semantic.DeepEqual(w.userSpec(old), w.userSpec(o)) {
		return nil, nil
	}
	return w.warn(o), nil
}

// ValidateDelete returns no warning.
func (w *warner[O]) ValidateDelete(context.Context, O) (admission.Warnings, error) { return nil, nil }

// Warnings collects warnings.
type Warnings admission.Warnings

// When adds a warning if its condition holds.
func (l *Warnings) When(holds bool, format string, args ...any) {
	if holds {
		*l = append(*l, fmt.Sprintf(format, args...))
	}
}
