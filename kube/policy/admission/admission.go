// Package admission admits rollout policies: it refuses what the schema of the kinds can't express, and warns of windows that are too short
// for a replacement.
package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/kube/policy"
	"github.com/muster-project/muster/kube/policy/calendar"
	"github.com/muster-project/muster/kube/policy/gates/success"
	"github.com/muster-project/muster/kube/webhook"
)

// The paths that are served, in the form of the ecosystem's.
const (
	RolloutPolicyPath        = "/validate-muster-dev-v1alpha1-rolloutpolicy"
	ClusterRolloutPolicyPath = "/validate-muster-dev-v1alpha1-clusterrolloutpolicy"
)

// shortWindow is the duration below which a window is warned of: to launch a machine, have it join and drain another takes about as long.
const shortWindow = 45 * time.Minute

// CheckGate returns the faults of a gate that the schema can't express, for example of its expression. path is that of the gate.
type CheckGate func(path *field.Path, gate *musterv1.RolloutGate) field.ErrorList

// CheckSuccess is the CheckGate of expressions.
func CheckSuccess(path *field.Path, gate *musterv1.RolloutGate) field.ErrorList {
	if _, err := success.Compile(gate.Success); err != nil {
		return field.ErrorList{field.Invalid(path.Child("success"), gate.Success, err.Error())}
	}
	return nil
}

// +kubebuilder:webhook:verbs=create;update,path=/validate-muster-dev-v1alpha1-rolloutpolicy,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=muster.dev,resources=rolloutpolicies,versions=v1alpha1,name=validation.rolloutpolicy.muster.dev,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:verbs=create;update,path=/validate-muster-dev-v1alpha1-clusterrolloutpolicy,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=muster.dev,resources=clusterrolloutpolicies,versions=v1alpha1,name=validation.clusterrolloutpolicy.muster.dev,sideEffects=None,admissionReviewVersions=v1

// Hooks returns the webhooks of both kinds. gates check each gate.
func Hooks(gates ...CheckGate) []webhook.Hook {
	return []webhook.Hook{
		{Role: webhook.Validates, Version: musterv1.GroupVersion, Name: "rolloutpolicy", Resource: "rolloutpolicies", Path: RolloutPolicyPath,
			Serve: func(scheme *runtime.Scheme, reader client.Reader) *admission.Webhook {
				return admission.WithValidator(scheme, &validator[*musterv1.RolloutPolicy]{reader: reader, gates: gates, now: time.Now,
					spec: func(p *musterv1.RolloutPolicy) (*metav1.ObjectMeta, *musterv1.RolloutPolicySpec) {
						return &p.ObjectMeta, &p.Spec
					}})
			}},
		{Role: webhook.Validates, Version: musterv1.GroupVersion, Name: "clusterrolloutpolicy", Resource: "clusterrolloutpolicies",
			Path: ClusterRolloutPolicyPath,
			Serve: func(scheme *runtime.Scheme, reader client.Reader) *admission.Webhook {
				return admission.WithValidator(scheme, &validator[*musterv1.ClusterRolloutPolicy]{reader: reader, gates: gates, now: time.Now,
					spec: func(p *musterv1.ClusterRolloutPolicy) (*metav1.ObjectMeta, *musterv1.RolloutPolicySpec) {
						return &p.ObjectMeta, &p.Spec
					}})
			}},
	}
}

// validator refuses policies of one kind.
type validator[T client.Object] struct {
	reader client.Reader
	gates  []CheckGate
	now    func() time.Time
	spec   func(T) (*metav1.ObjectMeta, *musterv1.RolloutPolicySpec)
}

// ValidateCreate refuses a policy with faults.
func (v *validator[T]) ValidateCreate(ctx context.Context, o T) (admission.Warnings, error) {
	meta, spec := v.spec(o)
	return v.validate(ctx, meta, spec, nil)
}

// ValidateUpdate refuses faults that the policy did not have before, so that one that an older rule or an earlier day let in can be
// changed.
func (v *validator[T]) ValidateUpdate(ctx context.Context, old, o T) (admission.Warnings, error) {
	meta, spec := v.spec(o)
	oldMeta, before := v.spec(old)
	if !meta.DeletionTimestamp.IsZero() || equality.Semantic.DeepEqual(before, spec) {
		return nil, nil
	}
	return v.validate(ctx, meta, spec, faults(policy.Compile(oldMeta, before), v.gates, v.now()))
}

// ValidateDelete lets every deletion pass.
func (*validator[T]) ValidateDelete(context.Context, T) (admission.Warnings, error) { return nil, nil }

func (v *validator[T]) validate(ctx context.Context, meta *metav1.ObjectMeta, spec *musterv1.RolloutPolicySpec,
	known field.ErrorList) (admission.Warnings, error) {
	p := policy.Compile(meta, spec)
	errs := slices.DeleteFunc(faults(p, v.gates, v.now()), func(e *field.Error) bool {
		return slices.ContainsFunc(known, func(k *field.Error) bool { return k.Error() == e.Error() })
	})
	warnings := warningsOf(spec)
	if len(errs) == 0 && p.Invalid() == nil {
		warning, err := v.contradiction(ctx, p)
		if err != nil {
			errs = append(errs, err)
		} else if warning != "" {
			warnings = append(warnings, warning)
		}
	}
	if len(errs) > 0 {
		return warnings, apierrors.NewInvalid(musterv1.GroupVersion.WithKind(p.Kind).GroupKind(), p.Name, errs)
	}
	return warnings, nil
}

// faults returns what is wrong with a policy by itself.
func faults(p *policy.Policy, gates []CheckGate, now time.Time) (errs field.ErrorList) {
	path := field.NewPath("spec")
	var found calendar.Errors
	if errors.As(p.Invalid(), &found) {
		for _, e := range found {
			errs = append(errs, field.Invalid(path.Child(e.Field), e.Value, "want "+e.Want))
		}
	}
	if s := p.Spec.Selector; s != nil {
		o := metav1validation.LabelSelectorValidationOptions{}
		errs = append(errs, metav1validation.ValidateLabelSelector(s.Namespaces, o, path.Child("selector", "namespaces"))...)
		errs = append(errs, metav1validation.ValidateLabelSelector(s.Clusters, o, path.Child("selector", "clusters"))...)
		errs = append(errs, metav1validation.ValidateLabelSelector(s.Pools, o, path.Child("selector", "pools"))...)
	}
	names := map[string]bool{}
	for k := range p.Spec.Gates {
		gate, at := &p.Spec.Gates[k], path.Child("gates").Index(k)
		if names[gate.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), gate.Name))
		}
		names[gate.Name] = true
		for _, check := range gates {
			errs = append(errs, check(at, gate)...)
		}
	}
	if p.Invalid() == nil && p.Calendar().NeverOpens(now) {
		errs = append(errs, field.Forbidden(path.Child("exclusions"), musterv1.ReasonPolicyNeverOpens+
			": no window is open outside of the exclusions within 400 days, so that no machine would be replaced: add a window, or shorten an "+
			"exclusion"))
	}
	return errs
}

// warningsOf returns what is allowed and most likely a mistake.
func warningsOf(spec *musterv1.RolloutPolicySpec) (list admission.Warnings) {
	for k, w := range spec.Windows {
		if w.Duration.Duration < shortWindow {
			list = append(list, fmt.Sprintf("spec.windows[%d].duration: %s is shorter than most replacements take, about %s to launch, join and "+
				"drain: a machine that does not drain in time waits for the next window", k, calendar.ShortDuration(w.Duration.Duration),
				calendar.ShortDuration(shortWindow)))
		}
	}
	return list
}

// contradiction compares the policy with the others of the pools that it selects. A RolloutPolicy that leaves a pool without any open
// time is refused. A ClusterRolloutPolicy is not, because no tenant can keep the operator from restricting more: it is warned of.
func (v *validator[T]) contradiction(ctx context.Context, p *policy.Policy) (warning string, refused *field.Error) {
	if v.reader == nil || len(p.Spec.Windows)+len(p.Spec.Exclusions) == 0 {
		return "", nil
	}
	others, err := (&policy.Reader{Client: v.reader}).List(ctx, p.Namespace)
	if err != nil {
		return "the policy was not compared with other policies: " + err.Error(), nil
	}
	others = slices.DeleteFunc(others, func(o *policy.Policy) bool { return o.String() == p.String() })
	pools, err := policy.Pools(ctx, v.reader, p.Namespace, p.SelectsNamespaces() || slices.ContainsFunc(others,
		(*policy.Policy).SelectsNamespaces))
	if err != nil {
		return "the policy was not compared with other policies: " + err.Error(), nil
	}
	c, found := policy.Contradict(p, others, pools, v.now())
	switch {
	case !found:
		return "", nil
	case p.Namespace == "":
		return fmt.Sprintf("%s: %s", musterv1.ReasonPolicyNeverOpens, c), nil
	}
	return "", field.Forbidden(field.NewPath("spec", "windows"), fmt.Sprintf("%s: %s", musterv1.ReasonPolicyNeverOpens, c))
}
