package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/infrapool/preview"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/view"
)

// Request asks for plans.
type Request struct {
	// Client of the management cluster. Edits are sent to it as dry runs, and nothing else but reads.
	Client client.Client
	// Hub gives objects in the version that controllers read.
	Hub Hub
	// Planners look at the pools of each infrastructure kind.
	Planners []preview.Planner
	// Namespace of Pool, and of manifests that name none.
	Namespace string
	// Manifests are planned as if they were applied.
	Manifests []*unstructured.Unstructured
	// ApplyAs makes the manifests be applied by the API server, under this field manager; empty as kubectl apply does it.
	ApplyAs string
	// Kind and Name of the pool, or of its infrastructure object; empty for every pool that the manifests concern.
	Kind, Name string
	// Set are fields that are planned with other values, as path=value: of the named object, or, where a MachinePool has no
	// such field, of its infrastructure object.
	Set []string
}

// sameLook bounds the age of an observation of the cloud for one plan.
const sameLook = time.Minute

// ErrNoPool is returned if there is nothing to plan.
var ErrNoPool = errors.New("no machine pool")

// Build returns the plans, ordered by namespace and name.
func Build(ctx context.Context, r Request) ([]Plan, error) {
	e := newEditor(r.Client, r.Hub, r.ApplyAs)
	edits, err := r.put(ctx, e)
	if err != nil {
		return nil, err
	}
	pools, err := r.pools(ctx, edits)
	if err != nil {
		return nil, err
	}
	if len(r.Set) > 0 {
		if edits, err = r.set(ctx, e, pools[0], edits); err != nil {
			return nil, err
		}
	}
	var plans []Plan
	for _, mp := range pools {
		p, err := r.plan(ctx, mp, edits)
		if err != nil {
			return nil, fmt.Errorf("MachinePool %s/%s: %w", mp.Namespace, mp.Name, err)
		}
		plans = append(plans, p)
	}
	return plans, nil
}

// put has the API server validate all manifests, and reports all rejections together.
func (r Request) put(ctx context.Context, e editor) ([]edited, error) {
	var edits []edited
	var refused []error
	for _, u := range r.Manifests {
		manifest := u.DeepCopy()
		namespaced, err := r.Client.IsObjectNamespaced(manifest)
		if err == nil && namespaced && manifest.GetNamespace() == "" {
			manifest.SetNamespace(r.Namespace)
		}
		var one edited
		if err == nil {
			one, err = e.put(ctx, manifest)
		} else {
			err = refusal(manifest, err)
		}
		if err != nil {
			refused = append(refused, err)
			continue
		}
		edits = append(edits, one)
	}
	return edits, errors.Join(refused...)
}

// pools returns the requested pools in the state after the edits.
func (r Request) pools(ctx context.Context, edits []edited) ([]*clusterv1.MachinePool, error) {
	all, err := r.every(ctx, edits)
	if err != nil {
		return nil, err
	}
	var out []*clusterv1.MachinePool
	for _, mp := range all {
		if r.selects(mp, edits) {
			out = append(out, mp)
		}
	}
	if len(out) == 0 && r.Name != "" && !view.KnownKind(r.Kind) {
		return nil, fmt.Errorf("unknown kind %q: name a MachinePool or its infrastructure object, as in machinepool/workers", r.Kind)
	}
	if len(out) == 0 && r.Name != "" {
		return nil, fmt.Errorf("%w: %s %s/%s does not exist, or no MachinePool refers to it%s", ErrNoPool, r.Kind, r.Namespace, r.Name,
			r.namesake(all))
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w is concerned by these manifests", ErrNoPool)
	}
	slices.SortFunc(out, func(a, b *clusterv1.MachinePool) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return out, nil
}

// namesake returns a hint when the name that was not found is that of a MachinePool whose infrastructure object has another one.
func (r Request) namesake(all []*clusterv1.MachinePool) string {
	for _, mp := range all {
		if mp.Namespace == r.Namespace && mp.Name == r.Name {
			ref := mp.Spec.Template.Spec.InfrastructureRef
			return fmt.Sprintf("; MachinePool %s/%s refers to %s %s: plan machinepool/%s", mp.Namespace, mp.Name, ref.Kind, ref.Name, mp.Name)
		}
	}
	return ""
}

// every returns all MachinePools of the namespaces that matter.
func (r Request) every(ctx context.Context, edits []edited) ([]*clusterv1.MachinePool, error) {
	spaces := []string{}
	if r.Name != "" {
		spaces = append(spaces, r.Namespace)
	}
	found := map[client.ObjectKey]*clusterv1.MachinePool{}
	for _, one := range edits {
		spaces = append(spaces, one.after.GetNamespace())
	}
	slices.Sort(spaces)
	for _, space := range slices.Compact(spaces) {
		list := &clusterv1.MachinePoolList{}
		if space == "" {
			continue
		}
		if err := r.Client.List(ctx, list, client.InNamespace(space)); err != nil {
			return nil, fmt.Errorf("list the MachinePools of namespace %s: %w", space, err)
		}
		for i := range list.Items {
			found[client.ObjectKeyFromObject(&list.Items[i])] = &list.Items[i]
		}
	}
	for _, one := range edits {
		if mp, ok := one.after.(*clusterv1.MachinePool); ok {
			found[client.ObjectKeyFromObject(mp)] = mp
		}
	}
	out := make([]*clusterv1.MachinePool, 0, len(found))
	for _, mp := range found {
		out = append(out, mp)
	}
	return out, nil
}

// selects reports whether a plan of this pool is requested.
func (r Request) selects(mp *clusterv1.MachinePool, edits []edited) bool {
	if r.Name != "" {
		ref := mp.Spec.Template.Spec.InfrastructureRef
		return mp.Namespace == r.Namespace && (view.SameKind(r.Kind, machinePoolKind) && mp.Name == r.Name ||
			view.SameKind(r.Kind, schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind}) && ref.Name == r.Name)
	}
	return slices.ContainsFunc(edits, func(one edited) bool { return concerns(one.after, mp, clusterv1.ContractVersionedObjectReference{}) })
}

// machinePoolKind is the kind of the pool itself.
var machinePoolKind = schema.GroupKind{Group: clusterv1.GroupVersion.Group, Kind: "MachinePool"}

// concerns reports whether an object is one that a pool's machines depend on. The place in the cloud is known once the cluster
// was read.
func concerns(o client.Object, mp *clusterv1.MachinePool, place clusterv1.ContractVersionedObjectReference) bool {
	if o.GetNamespace() != mp.Namespace {
		return false
	}
	spec := mp.Spec.Template.Spec
	gk := groupKind(o)
	is := func(group, kind, name string) bool {
		return gk == schema.GroupKind{Group: group, Kind: kind} && o.GetName() == name && name != ""
	}
	secret := ""
	if spec.Bootstrap.DataSecretName != nil {
		secret = *spec.Bootstrap.DataSecretName
	}
	core := clusterv1.GroupVersion.Group
	return is(core, "MachinePool", mp.Name) || is(core, "Cluster", mp.Spec.ClusterName) || is("", "Secret", secret) ||
		is(spec.InfrastructureRef.APIGroup, spec.InfrastructureRef.Kind, spec.InfrastructureRef.Name) ||
		is(spec.Bootstrap.ConfigRef.APIGroup, spec.Bootstrap.ConfigRef.Kind, spec.Bootstrap.ConfigRef.Name) ||
		is(place.APIGroup, place.Kind, place.Name)
}

// plan makes the plan of one pool.
func (r Request) plan(ctx context.Context, mp *clusterv1.MachinePool, edits []edited) (Plan, error) {
	ref := mp.Spec.Template.Spec.InfrastructureRef
	p := Plan{
		Namespace: mp.Namespace, Name: mp.Name, Cluster: mp.Spec.ClusterName, Infrastructure: Reference{ref.Kind, ref.Name},
		Changes: []Change{}, Waves: []Wave{}, Rolled: []MachineChange{}, Gone: []MachineChange{}, InPlace: []MachineChange{}, Steps: []string{},
		Blocked:  []Cause{},
		Warnings: []string{},
	}
	k := slices.IndexFunc(r.Planners, func(p preview.Planner) bool {
		return p.Kind() == schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind}
	})
	if k < 0 {
		p.blocked(pool.Cause{Reason: "KindNotPlanned",
			Message: fmt.Sprintf("pools of kind %s are another provider's, and nothing is known of their plans", ref.Kind)})
		p.Headline = p.headline(preview.Look{}, Forecast{})
		return p, nil
	}
	b := fieldEffects{planner: r.Planners[k], key: client.ObjectKey{Namespace: mp.Namespace, Name: ref.Name}, edits: edits}
	facts, err := b.look(ctx, b.after(), 0)
	if apierrors.IsNotFound(err) {
		p.blocked(pool.Cause{Reason: "InfrastructureMissing", Message: fmt.Sprintf("%s %s does not exist", ref.Kind, ref.Name)})
		p.Headline = p.headline(preview.Look{}, Forecast{})
		return p, nil
	}
	if err != nil {
		return p, err
	}
	p.fill(facts)
	p.Changes, err = b.changes(ctx, mp, facts)
	return p, err
}

func (p *Plan) blocked(c pool.Cause) {
	if c.Message != "" && !slices.Contains(p.Blocked, causeOf(c)) {
		p.Blocked = append(p.Blocked, causeOf(c))
	}
}
