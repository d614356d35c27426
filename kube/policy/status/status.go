// Package status reports the state of rollout policies in their status: whether they can be applied, whether they are open, when that
// changes, and how many pools they select.
package status

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/kube/policy"
)

// +kubebuilder:rbac:groups=muster.dev,resources=rolloutpolicies/status;clusterrolloutpolicies/status,verbs=get;patch;update
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machinepools;clusters,verbs=get;list;watch

// Reconciler writes the status of policies of both kinds. It writes only what has changed.
type Reconciler struct {
	Client client.Client
	// Policies reads the policies that one is compared with.
	Policies *policy.Reader
	// Now is the clock; nil is the real one.
	Now func() time.Time
}

// reconcileTenants reconciles a RolloutPolicy.
func (r *Reconciler) reconcileTenants(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	p := &musterv1.RolloutPolicy{}
	return r.reconcile(ctx, req, p, &p.ObjectMeta, &p.Spec, &p.Status)
}

// reconcileOperators reconciles a ClusterRolloutPolicy.
func (r *Reconciler) reconcileOperators(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	p := &musterv1.ClusterRolloutPolicy{}
	return r.reconcile(ctx, req, p, &p.ObjectMeta, &p.Spec, &p.Status)
}

// reconcile writes the status of a policy of either kind if it has changed. meta, spec and status are parts of the object.
func (r *Reconciler) reconcile(ctx context.Context, req ctrl.Request, o client.Object, meta *metav1.ObjectMeta,
	spec *musterv1.RolloutPolicySpec, status *musterv1.RolloutPolicyStatus) (ctrl.Result, error) {
	if err := r.Client.Get(ctx, req.NamespacedName, o); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	before, was := o.DeepCopyObject().(client.Object), status.DeepCopy()
	after, err := r.update(ctx, meta, spec, status)
	if err != nil || equality.Semantic.DeepEqual(was, status) {
		return after, err
	}
	return after, client.IgnoreNotFound(r.Client.Status().Patch(ctx, o, client.MergeFrom(before)))
}

// update computes the status of a policy. The result asks for another look when the policy opens or closes.
func (r *Reconciler) update(ctx context.Context, of *metav1.ObjectMeta, spec *musterv1.RolloutPolicySpec,
	status *musterv1.RolloutPolicyStatus) (ctrl.Result, error) {
	now := time.Now()
	if r.Now != nil {
		now = r.Now()
	}
	p := policy.Compile(of, spec)
	others, err := r.others(ctx, p)
	if err != nil {
		return ctrl.Result{}, err
	}
	pools, err := policy.Pools(ctx, r.Client, of.Namespace, p.SelectsNamespaces() || slices.ContainsFunc(others,
		(*policy.Policy).SelectsNamespaces))
	if err != nil {
		return ctrl.Result{}, err
	}
	status.ObservedGeneration = of.Generation
	status.Pools = new(int32)
	for _, pool := range pools {
		if p.Selects(pool.Subject) {
			*status.Pools++
		}
	}
	next := times(p, status, now)
	condition := ready(p, others, pools, now)
	condition.ObservedGeneration = of.Generation
	meta.SetStatusCondition(&status.Conditions, condition)
	if next.IsZero() {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{RequeueAfter: max(next.Sub(now), time.Second)}, nil
}

// others returns the policies that p is compared with. A ClusterRolloutPolicy is compared with others of the operator only: its state
// does not depend on what tenants write.
func (r *Reconciler) others(ctx context.Context, p *policy.Policy) ([]*policy.Policy, error) {
	list, err := r.Policies.List(ctx, cmp.Or(p.Namespace, metav1.NamespaceAll))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(o *policy.Policy) bool {
		return o.String() == p.String() || p.Namespace == "" && o.Namespace != ""
	}), nil
}

// times fills in when the policy opens or closes, and returns the time of the next change; zero if there is none.
func times(p *policy.Policy, status *musterv1.RolloutPolicyStatus, now time.Time) time.Time {
	status.Open, status.OpensAt, status.ClosesAt = new(bool), nil, nil
	if p.Invalid() != nil {
		return time.Time{}
	}
	d := p.Calendar().AtAny(now)
	*status.Open = d.Open
	switch {
	case d.Until.IsZero():
	case d.Open:
		status.ClosesAt = &metav1.Time{Time: d.Until}
	default:
		status.OpensAt = &metav1.Time{Time: d.Until}
	}
	return d.Until
}

// ready returns the condition Ready.
func ready(p *policy.Policy, others []*policy.Policy, pools []policy.Pool, now time.Time) metav1.Condition {
	c := metav1.Condition{Type: musterv1.PolicyReady, Status: metav1.ConditionFalse, LastTransitionTime: metav1.Time{Time: now}}
	if err := p.Invalid(); err != nil {
		c.Reason = musterv1.ReasonPolicyInvalid
		c.Message = fmt.Sprintf("the policy holds back all rollouts of its pools until it is corrected: spec.%v", err)
		return c
	}
	if p.Calendar().NeverOpens(now) {
		c.Reason = musterv1.ReasonPolicyNeverOpens
		c.Message = "no window is open outside of the exclusions within 400 days: add a window, or shorten an exclusion"
		return c
	}
	if found, ok := policy.Contradict(p, others, pools, now); ok {
		c.Reason, c.Message = musterv1.ReasonPolicyNeverOpens, found.String()+": change the windows or exclusions of one of them"
		return c
	}
	c.Status, c.Reason, c.Message = metav1.ConditionTrue, musterv1.ReasonPolicyValid, "the policy applies to the pools that it selects"
	return c
}
