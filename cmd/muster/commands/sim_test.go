package commands

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure"
)

// printed collects what a command prints while it runs.
type printed struct {
	mu   sync.Mutex
	text strings.Builder
}

func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

var endpoint = regexp.MustCompile(`AZURE_RESOURCE_MANAGER_ENDPOINT=(\S+)`)

// A client whose endpoint is fixed is pointed at the simulator by name resolution, and trusts the CA that is printed. The simulator's
// links lead it there again.
func TestSimServesTLS(t *testing.T) {
	dir := t.TempDir()
	var authorities []string
	for range 2 {
		out, file := &printed{}, filepath.Join(dir, "ca.crt")
		s := &simulators{clouds: []string{"azure"}, dir: filepath.Join(dir, "state"), speed: 10, out: out, tls: true,
			names: []string{"azure.example"}, caFile: file}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.run(ctx) }()
		var at []string
		for end := time.Now().Add(20 * time.Second); at == nil ||
			!strings.Contains(out.String(), "END CERTIFICATE"); <-time.After(10 * time.Millisecond) {
			if at = endpoint.FindStringSubmatch(out.String()); time.Now().After(end) {
				t.Fatalf("want the endpoint and the CA printed within 20 seconds, got %s", out)
			}
		}
		ca, err := os.ReadFile(file)
		if err != nil || !strings.Contains(out.String(), string(ca)) {
			t.Fatalf("want the CA written to a file as it was printed, got %v, %s", err, out)
		}
		authorities = append(authorities, string(ca))
		client := trusting(t, ca, strings.TrimPrefix(at[1], "https://"))
		pages, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://localhost"+sim.AdminPath+"faults",
			strings.NewReader(`{"kind": "page-limit", "limit": 1}`))
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := client.Do(pages); err != nil || resp.Body.Close() != nil || resp.StatusCode != http.StatusNoContent {
			t.Fatalf("want pages of one, got %v, %v", resp, err)
		}
		for _, host := range []string{"management.azure.com", "azure.example", "localhost"} {
			if got := nextLink(t, client, "https://"+host); !strings.HasPrefix(got, "https://"+host+"/") {
				t.Errorf("next page: want it at https://%s, got %s", host, got)
			}
		}
		client.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	if authorities[0] != authorities[1] {
		t.Error("want the CA kept with the state, got another one after a restart")
	}
	if err := (&simulators{clouds: []string{"azure"}, speed: 10, out: io.Discard, caFile: "ca.crt"}).run(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "--tls") {
		t.Errorf("--tls-ca without --tls: want it refused, got %v", err)
	}
}

// trusting returns a client that trusts a CA alone and reaches every host at one address.
func trusting(t *testing.T, ca []byte, addr string) *http.Client {
	t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		t.Fatalf("want a certificate, got %s", ca)
	}
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, addr)
		},
	}}
}

// nextLink is where the second page of the sizes is.
func nextLink(t *testing.T, client *http.Client, base string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		base+"/subscriptions/"+azure.SubscriptionID+"/providers/Microsoft.Compute/skus?api-version=2021-07-01", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer x")
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("want the sizes, got %s, %v: %s", resp.Status, err, body)
	}
	link := regexp.MustCompile(`"nextLink":"([^"]+)"`).FindSubmatch(body)
	if link == nil {
		t.Fatalf("want more than one page, got %s", body)
	}
	return string(link[1])
}
