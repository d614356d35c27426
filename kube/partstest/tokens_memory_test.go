package partstest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/muster-project/muster/kube/tokens"
)

// TestMemory holds that the expiration of a token is read from time to time, and always if the token may need an extension.
func TestMemory(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		why   string
		until string
		// cluster is that of the second pass, after the time between both.
		cluster string
		after   time.Duration
		reads   int
		lost    bool
	}{
		"busy":     {why: "passes that follow one another read once", until: in(tokenLasts), cluster: "c", after: time.Second, reads: 1},
		"later":    {why: "what was read a while ago is read again", until: in(tokenLasts), cluster: "c", after: tokenFreshFor, reads: 2},
		"for ever": {why: "one without an end is no exception", cluster: "c", after: time.Second, reads: 1},
		"due": {why: "one that needs more time now is given it", until: in(tokens.Early + 5*time.Second), cluster: "c",
			after: 6 * time.Second, reads: 2},
		"renewed":   {why: "what was written is known too", until: in(time.Minute), cluster: "c", after: time.Second, reads: 1},
		"elsewhere": {why: "clusters have their own tokens", until: in(tokenLasts), cluster: "d", after: time.Second, reads: 2},
		"gone":      {why: "one that is gone is asked for each time", until: "gone", cluster: "c", after: time.Second, reads: 2, lost: true},
		"clock behind": {why: "a clock that was set back makes nothing fresh", until: in(tokenLasts), cluster: "c", after: -tokenFreshFor,
			reads: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reads := 0
			b := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
					if _, ok := o.(*corev1.Secret); ok {
						reads++
					}
					return c.Get(ctx, key, o, opts...)
				},
			})
			if tc.until != "gone" {
				b = b.WithObjects(secret("a", tc.until))
			}
			c, m := b.Build(), &tokens.Memory{}
			if _, err := m.Refresh(t.Context(), c, "c", []string{"a"}, tokens.Early, now); err != nil {
				t.Fatal(err)
			}
			got, err := m.Refresh(t.Context(), c, tc.cluster, []string{"a"}, tokens.Early, now.Add(tc.after))
			if err != nil || reads != tc.reads || got.Lost != tc.lost {
				t.Errorf("%s: want %d reads and lost %t, got %d and %+v, error %v", tc.why, tc.reads, tc.lost, reads, got, err)
			}
		})
	}
}

// After a start of the process all pools of a workload cluster ask for their tokens at once, and share the rate of one client: the tokens
// are read together, unless the list is refused.
func TestManyTokensAreReadTogether(t *testing.T) {
	t.Parallel()
	const pools = 100
	for _, c := range []struct {
		why    string
		denied error
		limit  int64
	}{
		{"one is read alone, then all together", nil, 2},
		{"the list is denied: each is read", errors.New("denied"), pools + 1},
	} {
		var requests atomic.Int64
		b := fake.NewClientBuilder().WithIndex(&corev1.Secret{}, "type", func(o client.Object) []string {
			return []string{string(o.(*corev1.Secret).Type)}
		}).WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				requests.Add(1)
				return c.Get(ctx, key, o, opts...)
			},
			List: func(ctx context.Context, w client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
				requests.Add(1)
				if c.denied != nil {
					return c.denied
				}
				return w.List(ctx, list, opts...)
			},
		})
		for k := range pools {
			token := secret(fmt.Sprint(k), in(tokenLasts))
			token.Type = bootstrapapi.SecretTypeBootstrapToken
			b = b.WithObjects(token)
		}
		cl, m := b.Build(), &tokens.Memory{}
		var passes sync.WaitGroup
		for k := range pools {
			passes.Go(func() {
				// Passes that run at the same time have taken the time in any order.
				got, err := m.Refresh(t.Context(), cl, "c", []string{fmt.Sprint(k)}, tokens.Early, now.Add(time.Duration(k%7)*time.Millisecond))
				if err != nil || got.Lost || got.Until.IsZero() {
					t.Errorf("%s: want token %d kept, got %+v, %v", c.why, k, got, err)
				}
			})
		}
		passes.Wait()
		if n := requests.Load(); n > c.limit {
			t.Errorf("%s: want at most %d requests, got %d", c.why, c.limit, n)
		}
	}
}
