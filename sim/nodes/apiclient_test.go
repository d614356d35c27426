package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/sim/nodes/apiclient"
)

func TestBackoffDoublesUpToItsBound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := apiclient.Backoff{Min: time.Second, Max: 5 * time.Second}
		for i, want := range []time.Duration{1, 2, 4, 5, 5} {
			start := time.Now()
			if !b.Wait(t.Context()) || time.Since(start) != want*time.Second {
				t.Errorf("wait %d: want %v s, got %v", i, want, time.Since(start))
			}
		}
		b.Reset()
		start := time.Now()
		if b.Wait(t.Context()); time.Since(start) != time.Second {
			t.Errorf("after a success: want 1 s, got %v", time.Since(start))
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if start := time.Now(); b.Wait(ended) || time.Since(start) != 0 {
			t.Error("an ended context: want no wait and false")
		}
	})
}

func TestSpreadStaysForAName(t *testing.T) {
	t.Parallel()
	seen := map[time.Duration]bool{}
	for i := range 100 {
		name := fmt.Sprintf("node-%d", i)
		d := apiclient.Spread(name, time.Minute)
		if d < 0 || d >= time.Minute || d != apiclient.Spread(name, time.Minute) {
			t.Fatalf("%s: want a share of a minute that stays, got %v", name, d)
		}
		seen[d] = true
	}
	if len(seen) < 50 {
		t.Errorf("want a hundred nodes spread out, got %d moments", len(seen))
	}
}

func TestAccessShowsNoCredential(t *testing.T) {
	t.Parallel()
	a := apiclient.Access{Server: "https://h", Token: "s3cr3t", Key: []byte("s3cr3t")}
	for _, s := range []string{fmt.Sprint(a), fmt.Sprintf("%+v", a), fmt.Sprintf("%#v", a), fmt.Sprintf("%v", &a)} {
		if strings.Contains(s, "s3cr3t") || !strings.Contains(s, "https://h") {
			t.Errorf("want the server alone, got %s", s)
		}
	}
}

func TestOpenRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason, want string
		access       apiclient.Access
	}{
		{"a CA that is none", "holds no certificate", apiclient.Access{Server: "https://h", CA: []byte("x")}},
		{"a certificate that is none", "client certificate for https://h",
			apiclient.Access{Server: "https://h", Cert: []byte("x"), Key: []byte("y")}},
		{"a server that is no address", "client of", apiclient.Access{Server: "https://h:port:port"}},
	} {
		if _, err := apiclient.Open(c.access, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %q, got %v", c.reason, c.want, err)
		}
	}
}

// TestCloseEndsConnections holds a connection open that never answers, and closes the client under it.
func TestCloseEndsConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		mine, theirs := net.Pipe()
		defer func() { _ = theirs.Close() }()
		c, err := apiclient.Open(apiclient.Access{Server: "http://h"},
			func(context.Context, string, string) (net.Conn, error) { return mine, nil })
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			_, err := c.Core.Nodes().Get(t.Context(), "n", metav1.GetOptions{})
			done <- err
		}()
		if _, err := theirs.Read(make([]byte, 1)); err != nil { // The request has begun to arrive.
			t.Fatal(err)
		}
		c.Close()
		if err := <-done; err == nil {
			t.Error("want the request to fail when its client is closed")
		}
		if _, err := c.Core.Nodes().Get(t.Context(), "n", metav1.GetOptions{}); !errors.Is(err, net.ErrClosed) {
			t.Errorf("after Close: want %v, got %v", net.ErrClosed, err)
		}
	})
}
