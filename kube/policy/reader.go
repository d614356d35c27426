package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/kube/access"
	"github.com/muster-project/muster/pool/rollouts"
)

// ReasonPoliciesForbidden is the reason of pools whose policies the manager may not read.
const ReasonPoliciesForbidden = "PoliciesForbidden"

// +kubebuilder:rbac:groups=muster.dev,resources=rolloutpolicies;clusterrolloutpolicies,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch

// maxKept bounds the compiled policies and merged sets that are kept. Both are emptied beyond it.
const maxKept = 4096

// Reader reads and merges the policies of pools. It compiles a policy once for each of its generations, and merges a set of policies
// once. It is safe for concurrent use.
type Reader struct {
	// Client reads from the cache.
	Client client.Reader
	// MayWatch returns an error that wraps access.ErrForbidden for a kind that the manager may not list and watch, whose cache would never
	// fill. Nil allows all.
	MayWatch func(ctx context.Context, kind schema.GroupVersionKind) error

	mu       sync.Mutex
	compiled map[string]*Policy
	merged   map[string]Effective
}

// For returns the effect of all policies that select a pool. NamespaceLabels of the subject are read if a policy needs them. An error is
// that of a read, after which nothing is known of the policies.
func (r *Reader) For(ctx context.Context, s Subject) (Effective, error) {
	list, err := r.selecting(ctx, s)
	switch {
	case errors.Is(err, access.ErrForbidden) || apierrors.IsForbidden(err):
		return Effective{Invalid: rollouts.Cause{Reason: ReasonPoliciesForbidden,
			Message: "there is no right to list and watch rolloutpolicies, clusterrolloutpolicies and namespaces, so that all rollouts wait: " +
				"apply the manager's roles again"}}, nil
	case err != nil:
		return Effective{}, err
	}
	return r.merge(list), nil
}

// selecting returns the policies that select a pool.
func (r *Reader) selecting(ctx context.Context, s Subject) ([]*Policy, error) {
	list, err := r.List(ctx, s.Namespace)
	if err != nil {
		return nil, err
	}
	if s.NamespaceLabels == nil && slices.ContainsFunc(list, (*Policy).SelectsNamespaces) {
		if s.NamespaceLabels, err = r.namespaceLabels(ctx, s.Namespace); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(list, func(p *Policy) bool { return !p.Selects(s) }), nil
}

// namespaceLabels returns the labels of a namespace.
func (r *Reader) namespaceLabels(ctx context.Context, name string) (map[string]string, error) {
	namespace := &corev1.Namespace{}
	if err := r.mayWatch(ctx, corev1.SchemeGroupVersion.WithKind("Namespace")); err != nil {
		return nil, err
	}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: name}, namespace); err != nil {
		return nil, fmt.Errorf("read namespace %s: %w", name, err)
	}
	return namespace.Labels, nil
}

// List returns the policies that can select pools of a namespace: those of the operator first, then by name. A management cluster without
// the kinds has none.
func (r *Reader) List(ctx context.Context, namespace string) ([]*Policy, error) {
	var out []*Policy
	cluster, own := &musterv1.ClusterRolloutPolicyList{}, &musterv1.RolloutPolicyList{}
	if err := r.list(ctx, musterv1.ClusterRolloutPolicyKind, cluster); err != nil {
		return nil, err
	}
	for k := range cluster.Items {
		out = append(out, r.compile(&cluster.Items[k].ObjectMeta, &cluster.Items[k].Spec))
	}
	if err := r.list(ctx, musterv1.RolloutPolicyKind, own, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	for k := range own.Items {
		out = append(out, r.compile(&own.Items[k].ObjectMeta, &own.Items[k].Spec))
	}
	slices.SortFunc(out, func(a, b *Policy) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name)) })
	return out, nil
}

// list reads the objects of a kind without copying them: they are only looked at, and compile copies what it keeps.
func (r *Reader) list(ctx context.Context, kind string, list client.ObjectList, o ...client.ListOption) error {
	err := r.mayWatch(ctx, musterv1.GroupVersion.WithKind(kind))
	if err == nil {
		err = r.Client.List(ctx, list, append(o, client.UnsafeDisableDeepCopy)...)
	}
	switch {
	case meta.IsNoMatchError(err) || apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("list the objects of kind %s: %w", kind, err)
	}
	return nil
}

func (r *Reader) mayWatch(ctx context.Context, kind schema.GroupVersionKind) error {
	if r.MayWatch == nil {
		return nil
	}
	return r.MayWatch(ctx, kind)
}

// compile returns the compiled policy of an object's state.
func (r *Reader) compile(meta *metav1.ObjectMeta, spec *musterv1.RolloutPolicySpec) *Policy {
	id := stateOf(meta)
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.compiled[id]; p != nil {
		return p
	}
	if r.compiled == nil || len(r.compiled) >= maxKept {
		r.compiled, r.merged = map[string]*Policy{}, map[string]Effective{}
	}
	p := Compile(meta, spec.DeepCopy())
	r.compiled[id] = p
	return p
}

// merge returns the effect of policies.
func (r *Reader) merge(list []*Policy) Effective {
	if len(list) == 0 {
		return Effective{}
	}
	var text strings.Builder
	for _, p := range list {
		text.WriteString(p.id)
		text.WriteByte('\n')
	}
	key := text.String()
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.merged[key]
	if !ok {
		if r.merged == nil || len(r.merged) >= maxKept {
			r.merged = map[string]Effective{}
		}
		e = Merge(list)
		r.merged[key] = e
	}
	return e
}
