package machinepool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/machinepool/contract"
	"github.com/muster-project/muster/kube/machinepool/status"
)

// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machines;machines/status;machines/finalizers,verbs=get;list;watch;create;update;patch;delete

// member is one machine of a pool with Machines. Either half may be missing.
type member struct {
	// infra is the infrastructure's object for the machine, machine the Machine that stands for it.
	infra   *unstructured.Unstructured
	machine *clusterv1.Machine
}

// providerID of the machine's instance, empty while nobody knows it.
func (m member) providerID() string {
	if m.infra != nil {
		if id := text(m.infra, "spec", "providerID"); id != "" {
			return id
		}
	}
	if m.machine != nil {
		return m.machine.Spec.ProviderID
	}
	return ""
}

// node of the machine among those that were found.
func (m member) node(found map[string]*corev1.Node) *corev1.Node {
	if id := m.providerID(); id != "" {
		return found[meaning(id)]
	}
	return nil
}

// readMachines finds the Machines of the pool. Those that somebody else controls are not the pool's, whatever their labels.
// The Machines are the cache's and must not be changed.
func (r *Reconciler) readMachines(ctx context.Context, p *pass) result {
	list := &clusterv1.MachineList{}
	if err := r.Client.List(ctx, list, r.membersOf(p.pool)...); err != nil {
		// Without them nothing can be said about what is left of the pool.
		return result{err: fmt.Errorf("read the Machines of MachinePool %s: %w", p.pool.Name, err), stop: true}
	}
	for i := range list.Items {
		if p.mayOwn(&list.Items[i]) {
			p.machines = append(p.machines, &list.Items[i])
		}
	}
	slices.SortFunc(p.machines, func(a, b *clusterv1.Machine) int { return cmp.Compare(a.Name, b.Name) })
	return goOn()
}

// mayOwn says that nobody else controls a Machine.
func (p *pass) mayOwn(m *clusterv1.Machine) bool {
	owner := metav1.GetControllerOfNoCopy(m)
	return owner == nil || p.is(owner)
}

// owns says that the pool controls a Machine.
func (p *pass) owns(m *clusterv1.Machine) bool {
	owner := metav1.GetControllerOfNoCopy(m)
	return owner != nil && p.is(owner)
}

// gather pairs the pool's Machines with the infrastructure's machines. complete says that all of the latter could be read.
func (r *Reconciler) gather(ctx context.Context, p *pass) (all []member, complete bool, outcome result) {
	infras, complete, outcome := r.infraMachines(ctx, p)
	byName := make(map[string]*unstructured.Unstructured, len(infras))
	for _, infra := range infras {
		byName[infra.GetName()] = infra
	}
	for _, m := range p.machines {
		name := m.Spec.InfrastructureRef.Name
		all = append(all, member{infra: byName[name], machine: m})
		delete(byName, name)
	}
	for _, infra := range infras {
		if byName[infra.GetName()] != nil {
			all = append(all, member{infra: infra})
		}
	}
	return all, complete, outcome
}

// infraMachines are the infrastructure's objects for the single machines of the pool, by name. Their changes wake the pool.
func (r *Reconciler) infraMachines(ctx context.Context, p *pass) ([]*unstructured.Unstructured, bool, result) {
	if p.machineKind == "" || p.infra.object == nil {
		return nil, false, goOn()
	}
	gvk, err := r.machineGVK(ctx, p)
	if err == nil {
		err = r.mayWatch(ctx, gvk)
	}
	if err != nil {
		p.facts.Machines.Problem = "Machines can't be made: " + err.Error()
		if errors.Is(err, contract.ErrNoKind) {
			return nil, false, again(afterNoKind)
		}
		return nil, false, failed(err)
	}
	if r.trackMachines != nil {
		if err := r.trackMachines(ctx, r.blank(gvk)); err != nil {
			return nil, false, failed(err)
		}
	}
	if err := r.memberIndex.add(ctx, gvk, r.blank(gvk)); err != nil {
		return nil, false, failed(err)
	}
	all, err := r.list(ctx, gvk, p.pool)
	if err != nil {
		err = fmt.Errorf("read the objects of kind %s of MachinePool %s: %w", gvk.Kind, p.pool.Name, err)
		p.facts.Machines.Problem = err.Error()
		return nil, false, failed(err)
	}
	slices.SortFunc(all, func(a, b *unstructured.Unstructured) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return all, true, goOn()
}

// machineGVK is the kind of the infrastructure's machines in the version of the contract. A kind that names no version for
// the contract is read in that of the infrastructure object, as its provider expects.
func (r *Reconciler) machineGVK(ctx context.Context, p *pass) (schema.GroupVersionKind, error) {
	of := p.infra.object.GroupVersionKind()
	gvk, err := contract.GVK(ctx, r.Client, schema.GroupKind{Group: of.Group, Kind: p.machineKind})
	if errors.Is(err, contract.ErrNoVersion) {
		return of.GroupVersion().WithKind(p.machineKind), nil
	}
	return gvk, err
}

// list reads the objects of a kind that carry the pool's labels.
func (r *Reconciler) list(ctx context.Context, gvk schema.GroupVersionKind, pool *clusterv1.MachinePool) ([]*unstructured.Unstructured, error) {
	gvk.Kind += "List"
	list := r.blankList(gvk)
	if err := r.Client.List(ctx, list, r.membersOf(pool)...); err != nil {
		return nil, err
	}
	gvk.Kind = gvk.Kind[:len(gvk.Kind)-len("List")]
	var all []*unstructured.Unstructured
	err := meta.EachListItem(list, func(o runtime.Object) error {
		u, ok := o.(*unstructured.Unstructured)
		if !ok {
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
			if err != nil {
				return err
			}
			u = &unstructured.Unstructured{Object: content}
			u.SetGroupVersionKind(gvk)
		}
		all = append(all, u)
		return nil
	})
	return all, err
}

// blankList is an empty list of a kind, typed where the manager knows the kind, as blank is.
func (r *Reconciler) blankList(gvk schema.GroupVersionKind) client.ObjectList {
	if known, err := r.Client.Scheme().New(gvk); err == nil {
		if o, ok := known.(client.ObjectList); ok {
			o.GetObjectKind().SetGroupVersionKind(gvk)
			return o
		}
	}
	o := &unstructured.UnstructuredList{}
	o.SetGroupVersionKind(gvk)
	return o
}

// confirm reads an object past the cache, where the reconciler has been given a way: a cache that is behind may show what is
// gone, and not yet show what is there. It is nil when there is none.
func (r *Reconciler) confirm(ctx context.Context, gvk schema.GroupVersionKind, key client.ObjectKey) (client.Object, error) {
	o := r.blank(gvk)
	if err := r.live().Get(ctx, key, o); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("read %s %s: %w", gvk.Kind, key.Name, err)
	}
	return o, nil
}

// live reads past the cache, where the reconciler has been given a way.
func (r *Reconciler) live() client.Reader {
	if r.Live != nil {
		return r.Live
	}
	return r.Client
}

// rememberMachines starts the facts about Machines, in pools that have any.
func (p *pass) rememberMachines() {
	if p.machineKind != "" || len(p.machines) > 0 {
		p.facts.Machines = &status.Machines{Kind: p.machineKind}
	}
}
