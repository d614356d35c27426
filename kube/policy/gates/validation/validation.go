// Package validation refuses gates of policies that the operator does not allow, when the policy is written. It is the first check and not
// the last one: what it looks at is checked again each time a gate is asked.
package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/kube/policy/gates/address"
	"github.com/muster-project/muster/kube/policy/gates/health"
)

// Limits are what the operator allows gates to ask.
type Limits struct {
	Addresses address.List
	Kinds     health.Kinds
}

// Check returns an error for each field of a gate that keeps it from being asked. at is the path of the gate.
func (l Limits) Check(at *field.Path, g *musterv1.RolloutGate) field.ErrorList {
	var errs field.ErrorList
	if q := g.Prometheus; q != nil {
		errs = append(errs, l.address(at.Child("prometheus", "address"), q.Address)...)
	}
	if c := g.Condition; c != nil {
		if _, err := l.Kinds.Allows(c.APIVersion, c.Kind); err != nil {
			errs = append(errs, field.Forbidden(at.Child("condition", "kind"), err.Error()))
		}
	}
	return errs
}

// address validates an address. The error does not repeat one of another form, which may hold a password.
func (l Limits) address(at *field.Path, text string) field.ErrorList {
	a, err := address.New(text)
	if err != nil {
		return field.ErrorList{field.Invalid(at, field.OmitValueType{}, err.Error())}
	}
	if err := l.Addresses.Allows(a); err != nil {
		return field.ErrorList{field.Forbidden(at, err.Error())}
	}
	return nil
}
