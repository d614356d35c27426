package plan

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/infrapool/preview"
	"github.com/muster-project/muster/pool"
)

// fieldEffects looks at one pool with this or that part of an edit.
type fieldEffects struct {
	planner preview.Planner
	key     client.ObjectKey
	edits   []edited
}

func (b fieldEffects) look(ctx context.Context, objects []client.Object, age time.Duration) (preview.Look, error) {
	return b.planner.Look(ctx, objects, b.key, age)
}

// after returns the objects with the whole edit.
func (b fieldEffects) after() []client.Object {
	var out []client.Object
	for _, one := range b.edits {
		out = append(out, one.after)
	}
	return out
}

// but returns the objects with the whole edit, but for one object.
func (b fieldEffects) but(k int, o client.Object) []client.Object {
	out := b.after()
	out[k] = o
	return out
}

// changesMost bounds the fields whose effects are computed one by one. The remaining fields of larger edits are reported together.
const changesMost = 60

// changes returns the fields that the edit changes, each with what it does by itself.
func (b fieldEffects) changes(ctx context.Context, mp *clusterv1.MachinePool, after preview.Look) ([]Change, error) {
	out := []Change{}
	var base preview.Look
	for k, one := range b.edits {
		if one.before == nil || !concerns(one.after, mp, after.InfraCluster) {
			continue
		}
		list, err := differences(one.before, one.after)
		if err != nil {
			return nil, err
		}
		for _, d := range list {
			if len(out) >= changesMost {
				return append(out, Change{Kind: groupKind(one.after).Kind, Name: one.after.GetName(), Path: "...", Effect: Unknown,
					Why: "there are more changes than are told one by one"}), nil
			}
			if base.Object == nil {
				base, err = b.look(ctx, nil, sameLook)
				if apierrors.IsNotFound(err) {
					return out, nil // the pool is new: all of it is
				}
				if err != nil {
					return nil, err
				}
			}
			c, err := b.change(ctx, mp, k, d, base, after)
			if err != nil {
				return nil, err
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// secretive kinds hold what machines boot with, which is never shown.
func secretive(o client.Object, mp *clusterv1.MachinePool) bool {
	ref := mp.Spec.Template.Spec.Bootstrap.ConfigRef
	gk := groupKind(o)
	return gk.Kind == "Secret" || gk.Kind == ref.Kind && gk.Group == ref.APIGroup
}

// change computes the effect of one field: it compares the specification with only this field changed to the present one.
func (b fieldEffects) change(ctx context.Context, mp *clusterv1.MachinePool, k int, d difference, base,
	after preview.Look) (Change, error) {
	o := b.edits[k]
	c := Change{Kind: groupKind(o.after).Kind, Name: o.after.GetName(), Path: d.at.String(), From: short(d.from, d.was), To: short(d.to, d.is)}
	if secretive(o.after, mp) {
		c.From, c.To = "", ""
		c.Effect, c.Why = NewMachinesOnly, "what machines boot with replaces none of those that run"
		return c, nil
	}
	object, err := d.only(o.before)
	if err != nil {
		return c, err
	}
	alone, err := b.look(ctx, []client.Object{object}, sameLook)
	if err != nil {
		return c, err
	}
	if c.Effect, c.Why = effect(base, alone); c.Effect != Unknown {
		return c, nil
	}
	// A field that is invalid alone is compared by removing it from the whole edit.
	if object, err = d.without(o.after); err != nil {
		return c, err
	}
	without, err := b.look(ctx, b.but(k, object), sameLook)
	if err != nil {
		return c, err
	}
	if e, why := effect(without, after); e != Unknown {
		c.Effect, c.Why = e, why
	}
	return c, nil
}

// effect returns the effect of a change from one look to the other, with an explanation.
func effect(from, to preview.Look) (Effect, string) {
	if why, unknown := incomparable(from, to); unknown {
		return Unknown, why
	}
	a, b := from.Observed.Wanted, to.Observed.Wanted
	drift := newly(from, to, func(g *pool.Group) []string { return g.Drift })
	switch {
	case a.Content != b.Content && a.Content != "", restarts(from, to):
		return ReplacesMachines, held(to)
	case len(newly(from, to, func(g *pool.Group) []string { return g.Unchangeable })) > 0:
		return Nothing, fmt.Sprintf("the %s can't be changed in this once it exists", to.Traits.Group)
	case a.Data != b.Data:
		return NewMachinesOnly, ""
	case len(drift) > 0:
		return InPlace, fmt.Sprintf("the %s is changed: %s", to.Traits.Group, strings.Join(drift, ", "))
	case specification(from) != specification(to) || from.Paused != to.Paused || !reflect.DeepEqual(from.Health, to.Health):
		return InPlace, ""
	}
	return Nothing, ""
}

// incomparable reports whether two looks can't be held against each other, and why.
func incomparable(from, to preview.Look) (why string, unknown bool) {
	switch {
	case to.NotObserved != nil && from.NotObserved == nil:
		return to.NotObserved.Message, true
	case to.NotObserved != nil || from.NotObserved != nil:
		return "", true
	case to.Observed.Wanted.Content != "" || from.Observed.Wanted.Content == "":
		return "", false
	case len(to.Observed.Issues) > 0:
		return to.Observed.Issues[0].Message, true
	}
	return "", true
}

// held explains why machines that are to be replaced are not.
func held(to preview.Look) string {
	switch {
	case to.Desired.SkipModel && to.Desired.SkipModelCause.Reason != "":
		return "but " + to.Desired.SkipModelCause.Message
	case to.Desired.SkipModel:
		return "but templates are not followed (feature gate SkipMachinePoolModelReconciliation)"
	case to.Desired.Strategy == nil && !to.Traits.ProviderRollout:
		return "but nothing replaces them: the pool has no strategy"
	}
	return ""
}

// restarts reports whether a new restart is requested.
func restarts(from, to preview.Look) bool {
	return to.Desired.Restart != nil && (from.Desired.Restart == nil || from.Desired.Restart.Cause != to.Desired.Restart.Cause)
}

// newly returns the fields of the group of one sort that differ for the edit alone.
func newly(from, to preview.Look, fields func(*pool.Group) []string) []string {
	if from.Observed.Group == nil || to.Observed.Group == nil {
		return nil
	}
	var out []string
	for _, f := range fields(to.Observed.Group) {
		if !slices.Contains(fields(from.Observed.Group), f) {
			out = append(out, f)
		}
	}
	return out
}

// specification returns the specification of the object in a form that can be compared.
func specification(f preview.Look) string {
	d := f.Desired
	d.StepsInBackoff, d.NoDrain, d.CreateBlocked, d.Restart = nil, nil, nil, nil
	return compact(d)
}
