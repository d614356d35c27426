package tokens

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
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
		"busy":         {why: "passes that follow one another read once", until: in(lasts), cluster: "c", after: time.Second, reads: 1},
		"later":        {why: "what was read a while ago is read again", until: in(lasts), cluster: "c", after: freshFor, reads: 2},
		"for ever":     {why: "one without an end is no exception", cluster: "c", after: time.Second, reads: 1},
		"due":          {why: "one that needs more time now is given it", until: in(Early + 5*time.Second), cluster: "c", after: 6 * time.Second, reads: 2},
		"renewed":      {why: "what was written is known too", until: in(time.Minute), cluster: "c", after: time.Second, reads: 1},
		"elsewhere":    {why: "clusters have their own tokens", until: in(lasts), cluster: "d", after: time.Second, reads: 2},
		"gone":         {why: "one that is gone is asked for each time", until: "gone", cluster: "c", after: time.Second, reads: 2, lost: true},
		"clock behind": {why: "a clock that was set back makes nothing fresh", until: in(lasts), cluster: "c", after: -time.Second, reads: 2},
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
			c, m := b.Build(), &Memory{}
			if _, err := m.Refresh(t.Context(), c, "c", []string{"a"}, Early, now); err != nil {
				t.Fatal(err)
			}
			got, err := m.Refresh(t.Context(), c, tc.cluster, []string{"a"}, Early, now.Add(tc.after))
			if err != nil || reads != tc.reads || got.Lost != tc.lost {
				t.Errorf("%s: want %d reads and lost %t, got %d and %+v, error %v", tc.why, tc.reads, tc.lost, reads, got, err)
			}
		})
	}
}
