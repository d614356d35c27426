// Package ask asks one gate: it reads the Secret or the object that the gate names with the manager's rights, within the limits of what the
// author of the policy may have read, and turns the answer into a sample. It never fails: an error is a sample that decides nothing.
package ask

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/kube/policy/gates"
	"github.com/muster-project/muster/kube/policy/gates/address"
	"github.com/muster-project/muster/kube/policy/gates/health"
	"github.com/muster-project/muster/kube/policy/gates/prometheus"
	"github.com/muster-project/muster/kube/policy/gates/success"
)

// Asker asks gates.
type Asker struct {
	// Live reads Secrets and objects from the API server. No cache may hold what tenants choose.
	Live client.Reader
	// Mapper knows which kinds have a namespace.
	Mapper meta.RESTMapper
	// SecretNamespace is the namespace of the Secrets of policies that are cluster-scoped.
	SecretNamespace string
	// Addresses and Kinds are those that the operator allows.
	Addresses address.List
	Kinds     health.Kinds
	// Dialer connects to servers; its list is Addresses. The zero Dialer is the system's.
	Dialer address.Dialer
}

// Ask returns the answer to a gate.
func (a Asker) Ask(ctx context.Context, g gates.Gate) gates.Sample {
	switch {
	case g.Prometheus != nil:
		return a.query(ctx, g.Policy, *g.Prometheus)
	case g.Condition != nil:
		return a.read(ctx, g.Policy, *g.Condition)
	default:
		return gates.UndecidedSample("the gate asks nothing")
	}
}

func (a Asker) query(ctx context.Context, policy gates.Policy, q gates.Prometheus) gates.Sample {
	expression, err := success.Compile(q.Success)
	if err != nil {
		return gates.UndecidedSample("success: " + err.Error())
	}
	with, err := a.credentials(ctx, policy, q.Secret)
	if err != nil {
		return gates.UndecidedSample("secretRef: " + err.Error())
	}
	dialer := a.Dialer
	dialer.List = a.Addresses
	series, err := prometheus.Client{Dialer: dialer}.Query(ctx, q.Address, q.Query, with)
	if err != nil {
		return gates.UndecidedSample("Prometheus at " + shown(q.Address) + ": " + err.Error())
	}
	return expression.Judge(ctx, series)
}

// shown returns the address as messages have it: without what an address must not have, which could be a password.
func shown(text string) string {
	a, err := address.New(text)
	if err != nil {
		return "the address"
	}
	return a.String()
}

// credentials reads the Secret of a gate. A Secret that is absent and one without the label give the same error: the author of a policy may
// not be able to find out which Secrets there are.
func (a Asker) credentials(ctx context.Context, policy gates.Policy, name string) (prometheus.Credentials, error) {
	if name == "" {
		return prometheus.Credentials{}, nil
	}
	namespace := policy.Namespace
	if namespace == "" {
		namespace = a.SecretNamespace
	}
	secret := &corev1.Secret{}
	err := a.Live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret)
	if err != nil && !apierrors.IsNotFound(err) {
		return prometheus.Credentials{}, fmt.Errorf("read Secret %s: %s", name, reasonOf(err))
	}
	if err != nil || secret.Labels[gates.SecretLabel] != gates.SecretLabelValue {
		return prometheus.Credentials{}, fmt.Errorf("want a Secret %s with the label %s: %q in namespace %s", name, gates.SecretLabel,
			gates.SecretLabelValue, namespace)
	}
	token := strings.TrimSpace(string(secret.Data[gates.SecretToken]))
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return prometheus.Credentials{}, fmt.Errorf("key %s of Secret %s is not a bearer token", gates.SecretToken, name)
	}
	with := prometheus.Credentials{Token: common.NewSecret(token), CA: secret.Data[gates.SecretCA]}
	if with.Token.Empty() && len(with.CA) == 0 {
		return with, fmt.Errorf("want key %s or %s in Secret %s", gates.SecretToken, gates.SecretCA, name)
	}
	return with, nil
}

func (a Asker) read(ctx context.Context, policy gates.Policy, c gates.Condition) gates.Sample {
	kind, err := a.Kinds.Allows(c.APIVersion, c.Kind)
	if err != nil {
		return gates.UndecidedSample("condition: " + err.Error())
	}
	name := c.Kind + " " + c.Name
	namespaced, err := apiutil.IsGVKNamespaced(kind, a.Mapper)
	switch {
	case meta.IsNoMatchError(err):
		return gates.UndecidedSample(fmt.Sprintf("%s: the management cluster serves no %s in %s", name, c.Kind, c.APIVersion))
	case err != nil:
		return gates.UndecidedSample(name + ": " + reasonOf(err))
	case !namespaced && policy.Namespace != "":
		return gates.UndecidedSample(name + ": objects without a namespace are for a ClusterRolloutPolicy")
	}
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kind)
	key := client.ObjectKey{Name: c.Name}
	if namespaced {
		key.Namespace = c.Namespace
	}
	if err := a.Live.Get(ctx, key, o); err != nil {
		return gates.UndecidedSample(name + ": " + reasonOf(err))
	}
	return health.Of(o, c)
}

// reasonOf returns the API server's words for a refused read, without what changes from one request to the next.
func reasonOf(err error) string {
	var status apierrors.APIStatus
	switch {
	case errors.Is(err, context.DeadlineExceeded) || apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err):
		return "the API server does not respond in time"
	case apierrors.IsForbidden(err) || apierrors.IsNotFound(err):
		if errors.As(err, &status) {
			return status.Status().Message
		}
	case errors.As(err, &status):
		return "the API server responds with " + string(status.Status().Reason)
	}
	return "the API server can't be reached"
}
