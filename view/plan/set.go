package plan

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kjson "sigs.k8s.io/json"

	"github.com/muster-project/muster/view"
)

// set has the API server judge what --set asks for, on top of what the manifests say.
func (r Request) set(ctx context.Context, e editor, mp *clusterv1.MachinePool, edits []edited) ([]edited, error) {
	ref := mp.Spec.Template.Spec.InfrastructureRef
	infra := schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind}
	lists := map[schema.GroupKind][]assignment{}
	for _, text := range r.Set {
		a, err := parseSet(text)
		if err != nil {
			return nil, err
		}
		gk := infra
		if view.SameKind(r.Kind, machinePoolKind) && ofMachinePool(a.at) {
			gk = machinePoolKind
		}
		lists[gk] = append(lists[gk], a)
	}
	for _, o := range []struct {
		gk   schema.GroupKind
		name string
	}{{machinePoolKind, mp.Name}, {infra, ref.Name}} {
		gk, name := o.gk, o.name
		if len(lists[gk]) == 0 {
			continue
		}
		for _, one := range edits {
			if groupKind(one.after) == gk && one.after.GetName() == name && one.after.GetNamespace() == mp.Namespace {
				return nil, fmt.Errorf("--set: %s %s is in the manifests too: change it there", gk.Kind, name)
			}
		}
		one, err := r.setOne(ctx, e, gk, client.ObjectKey{Namespace: mp.Namespace, Name: name}, lists[gk])
		if err != nil {
			return nil, err
		}
		edits = append(edits, one)
	}
	return edits, nil
}

func (r Request) setOne(ctx context.Context, e editor, gk schema.GroupKind, key client.ObjectKey, list []assignment) (edited, error) {
	gvk, err := r.served(ctx, gk)
	if err != nil {
		return edited{}, err
	}
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(gvk)
	if err := r.Client.Get(ctx, key, live); err != nil {
		if apierrors.IsNotFound(err) {
			return edited{}, fmt.Errorf("--set: %s %s does not exist", gk.Kind, key)
		}
		return edited{}, fmt.Errorf("read %s %s: %w", gk.Kind, key, err)
	}
	return e.set(ctx, live, list)
}

// served returns the version of a kind that controllers read, because --set names none.
func (r Request) served(ctx context.Context, gk schema.GroupKind) (schema.GroupVersionKind, error) {
	for _, gv := range r.Client.Scheme().PrioritizedVersionsForGroup(gk.Group) {
		if gvk := gv.WithKind(gk.Kind); r.Client.Scheme().Recognizes(gvk) && r.isHub(ctx, gvk) {
			return gvk, nil
		}
	}
	mapping, err := r.Client.RESTMapper().RESTMapping(gk)
	if err != nil {
		if meta.IsNoMatchError(err) {
			return schema.GroupVersionKind{}, fmt.Errorf("--set: kind %s is not served: %w", gk, err)
		}
		return schema.GroupVersionKind{}, fmt.Errorf("look up kind %s: %w", gk, err)
	}
	return mapping.GroupVersionKind, nil
}

// isHub reports whether objects of this version are read as they are.
func (r Request) isHub(ctx context.Context, gvk schema.GroupVersionKind) bool {
	made, err := r.Client.Scheme().New(gvk)
	o, ok := made.(client.Object)
	if err != nil || !ok {
		return false
	}
	o.GetObjectKind().SetGroupVersionKind(gvk)
	o.SetName("x")
	hub, err := r.Hub(ctx, o)
	return err == nil && hub.GetObjectKind().GroupVersionKind() == gvk
}

// ofMachinePool reports whether a MachinePool has such a field.
func ofMachinePool(p path) bool {
	var content any
	for k := len(p) - 1; k >= 0; k-- {
		switch part := p[k].(type) {
		case string:
			content = map[string]any{part: content}
		case int:
			content = []any{content}
		}
	}
	text, err := json.Marshal(content)
	if err != nil {
		return false
	}
	unknown, err := kjson.UnmarshalStrict(text, &clusterv1.MachinePool{})
	return err == nil && len(unknown) == 0
}
