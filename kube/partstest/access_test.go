package partstest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/muster-project/muster/kube/access"
)

var widget = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}

// server answers reviews: it grants the verbs that it has, or fails.
type server struct {
	grants  []string
	fails   error
	reviews int
}

func (s *server) client(t *testing.T) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(widget, meta.RESTScopeNamespace)
	return fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			s.reviews++
			review := o.(*authorizationv1.SelfSubjectAccessReview)
			review.Status.Allowed = slices.Contains(s.grants, review.Spec.ResourceAttributes.Verb) &&
				review.Spec.ResourceAttributes.Resource == "widgets"
			return s.fails
		},
	}).Build()
}

func TestMayWatch(t *testing.T) {
	t.Parallel()
	broken := errors.New("no connection")
	for _, c := range []struct {
		why    string
		server server
		want   error
		text   string
		// reviews counts the reviews of two calls within a second, later those of a call a minute after.
		reviews, later int
	}{
		{why: "both rights are there, and are remembered", server: server{grants: []string{"list", "watch"}}, reviews: 2, later: 2},
		{why: "a list alone fills no cache", server: server{grants: []string{"list"}}, want: access.ErrForbidden,
			text: "widgets of API group example.com", reviews: 2, later: 4},
		{why: "a refusal is remembered for a shorter time", server: server{}, want: access.ErrForbidden, text: "aggregate-to-manager", reviews: 1,
			later: 2},
		{why: "a failed review is neither", server: server{fails: broken}, want: broken, text: "ask whether widgets may be read", reviews: 2,
			later: 3},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			now := time.Unix(1_700_000_000, 0)
			r := access.New(c.server.client(t), func() time.Time { return now })
			for range 2 {
				err := r.MayWatch(t.Context(), widget, "")
				if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), c.text) {
					t.Errorf("want %v with %q, got %v", c.want, c.text, err)
				}
			}
			if c.server.reviews != c.reviews {
				t.Errorf("want %d reviews, got %d", c.reviews, c.server.reviews)
			}
			now = now.Add(time.Minute)
			_ = r.MayWatch(t.Context(), widget, "")
			if c.server.reviews != c.later {
				t.Errorf("a minute later: want %d reviews, got %d", c.later, c.server.reviews)
			}
		})
	}
}
