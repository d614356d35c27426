package page

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/muster-project/muster/view"
	"github.com/muster-project/muster/view/page"
	"github.com/muster-project/muster/view/page/stream"
)

// still is a source of no pools, which never change.
type still struct{}

func (still) Pools(context.Context) ([]*view.Pool, error) { return nil, nil }
func (still) Changed() <-chan struct{}                    { return nil }

// recorder records a stream.
type recorder struct{ *httptest.ResponseRecorder }

func (recorder) SetWriteDeadline(time.Time) error { return nil }

// TestStreamsEndWithoutRequests holds that the streams of a user whose token and rights are not reviewed any more end without a request,
// and that the watch stays for those who come again, and ends for those who do not.
func TestStreamsEndWithoutRequests(t *testing.T) {
	t.Parallel()
	user := rest.ImpersonationConfig{UserName: "user"}
	scheme, err := view.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		all := &viewers{now: time.Now, known: map[string]*viewer{}}
		watching, end := context.WithCancel(ctx)
		hub := stream.NewHub(still{}, page.Encoder{}, func(string) string { return "" })
		go hub.Run(watching)
		c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(&clusterv1.MachinePool{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "workers"}}).Build()
		one := &viewer{Viewer: page.Viewer{Client: c, Fleet: hub}, used: time.Now(), checked: time.Now(), end: end}
		all.known[identity(user)] = one
		go all.expire(ctx)
		pages, err := page.New(page.Options{CloudOf: func(string) string { return "" },
			Viewer: func(r *http.Request) (*page.Viewer, error) { return all.get(r.Context(), user) }})
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/events", "/pools/team/workers/events"} {
			one.checked = time.Now()
			w := recorder{httptest.NewRecorder()}
			begun := time.Now()
			r, stop := context.WithTimeout(ctx, time.Hour)
			pages.ServeHTTP(w, httptest.NewRequestWithContext(r, http.MethodGet, path, nil))
			stop()
			if open := time.Since(begun); w.Code != http.StatusOK || open < recheck || open > 2*recheck {
				t.Errorf("%s: want the stream to end after the rights were not looked up twice, got %d after %v", path, w.Code, open)
			}
			if watching.Err() != nil {
				t.Errorf("%s: want the pools of a user who is not away watched", path)
			}
		}
		time.Sleep(idle + recheck)
		synctest.Wait()
		if watching.Err() == nil || len(all.known) > 0 {
			t.Error("want the pools of a user who is away not watched")
		}
		cancel()
		synctest.Wait()
	})
}

// TestWatchesEndWithTheRight holds that the pools of a user who has lost the right to see any are not watched any more, and that they stay
// watched, but are not shown, while the API server does not answer.
func TestWatchesEndWithTheRight(t *testing.T) {
	t.Parallel()
	scheme, err := view.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	if err := authorizationv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	var answers atomic.Bool
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !answers.Load() {
			http.Error(w, "out of order", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "status": {"allowed": false}}`))
	}))
	t.Cleanup(api.Close)
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(poolKind, meta.RESTScopeNamespace)
	mapper.Add(authorizationv1.SchemeGroupVersion.WithKind("SelfSubjectAccessReview"), meta.RESTScopeRoot)
	all := &viewers{now: time.Now, known: map[string]*viewer{}, o: Options{Config: &rest.Config{Host: api.URL}, Scheme: scheme,
		Client: fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper).Build()}}
	user := rest.ImpersonationConfig{UserName: "user"}
	watching, end := context.WithCancel(t.Context())
	all.known[identity(user)] = &viewer{used: time.Now(), end: end}
	if shown, err := all.get(t.Context(), user); err == nil || apierrors.IsForbidden(err) || watching.Err() != nil || len(all.known) != 1 {
		t.Errorf("want an error without an answer, and the pools still watched, got %v, %v and %v", shown, err, watching.Err())
	}
	answers.Store(true)
	if shown, err := all.get(t.Context(), user); !apierrors.IsForbidden(err) || watching.Err() == nil || len(all.known) != 0 {
		t.Errorf("want the user refused, and no pools watched, got %v, %v and %v", shown, err, watching.Err())
	}
}

// TestSlowReaders holds that a client which does not read an answer is disconnected.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	s := serverOf(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 64<<20)) }))
	if s.WriteTimeout <= 0 {
		t.Fatal("want the time for an answer bounded")
	}
	s.WriteTimeout = 100 * time.Millisecond
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{}, 1)
	s.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			ended <- struct{}{}
		}
	}
	go func() { _ = s.Serve(listener) }() // ends with the test
	t.Cleanup(func() { _ = s.Close() })
	c, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Error("the connection of a client that reads nothing is still open")
	}
}
