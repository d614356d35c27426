package manager

import (
	"context"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/kube/access"
)

// TestMayWatchOfANamespace: a manager that is limited to a namespace reads the RolloutPolicies there; if it asked for all namespaces, it
// would take them for forbidden, and hold back every rollout.
func TestMayWatchOfANamespace(t *testing.T) {
	t.Parallel()
	tenants := musterv1.GroupVersion.WithKind(musterv1.RolloutPolicyKind)
	operators := musterv1.GroupVersion.WithKind(musterv1.ClusterRolloutPolicyKind)
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{musterv1.GroupVersion})
	mapper.Add(tenants, meta.RESTScopeNamespace)
	mapper.Add(operators, meta.RESTScopeRoot)
	api := fake.NewClientBuilder().WithRESTMapper(mapper).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			review := o.(*authorizationv1.SelfSubjectAccessReview)
			is := review.Spec.ResourceAttributes
			review.Status.Allowed = is.Resource == "rolloutpolicies" && is.Namespace == "team-a" || is.Resource == "clusterrolloutpolicies"
			return nil
		},
	}).Build()
	for _, c := range []struct {
		why, namespace string
		kind           schema.GroupVersionKind
		allowed        bool
	}{
		{"its own namespace", "team-a", tenants, true},
		{"another namespace", "team-b", tenants, false},
		{"all namespaces", "", tenants, false},
		{"a kind without a namespace", "team-a", operators, true},
	} {
		if err := mayWatch(access.New(api, nil), c.namespace)(context.Background(), c.kind); (err == nil) != c.allowed {
			t.Errorf("%s: want allowed %t, got %v", c.why, c.allowed, err)
		}
	}
}
