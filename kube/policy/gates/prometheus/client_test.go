package prometheus

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/kube/policy/gates/address"
)

const token = "very-secret-token"

// clientOf returns a client that may ask a server of a test.
func clientOf(t *testing.T, allowed ...string) Client {
	t.Helper()
	list, err := address.Parse(allowed)
	if err != nil {
		t.Fatal(err)
	}
	return Client{Dialer: address.Dialer{List: list}}
}

// hostOf returns host and port of a server.
func hostOf(t *testing.T, server *httptest.Server) string {
	t.Helper()
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

func serving(t *testing.T, secure bool, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(h)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	if secure {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server
}

// certificate returns the certificate of a server in PEM.
func certificate(server *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

// TestRequest holds what is sent.
func TestRequest(t *testing.T) {
	t.Parallel()
	long := `sum(rate(errors{job="` + strings.Repeat("x", maxURL) + `"}[5m]))`
	for _, c := range []struct{ why, path, query, method string }{
		{"a short query", "", "up == 1 and on() vector(1)", http.MethodGet},
		{"a query below a path, as of a tenant", "/tenants/a/", "up", http.MethodGet},
		{"a query that is too long for a URL", "", long, http.MethodPost},
	} {
		asked := make(chan *http.Request, 1)
		server := serving(t, true, func(w http.ResponseWriter, r *http.Request) {
			_ = r.ParseForm()
			asked <- r
			fmt.Fprint(w, `{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}`)
		})
		series, err := clientOf(t, hostOf(t, server)).Query(t.Context(), server.URL+c.path, c.query,
			Credentials{Token: common.NewSecret(token), CA: certificate(server)})
		if err != nil || len(series) != 1 || series[0].Value != 2 {
			t.Fatalf("%s: want one sample, got %v, %v", c.why, series, err)
		}
		got := <-asked
		want := strings.TrimSuffix(c.path, "/") + "/api/v1/query"
		if got.Method != c.method || got.URL.Path != want || got.Form.Get("query") != c.query {
			t.Errorf("%s: want %s %s with the query, got %s %s", c.why, c.method, want, got.Method, got.URL.Path)
		}
		if got.Header.Get("Authorization") != "Bearer "+token {
			t.Errorf("%s: want the token sent over https", c.why)
		}
	}
}

// TestServers holds what a client makes of servers that misbehave: an error in bounded words, and never the token.
func TestServers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, want string
		serve     http.HandlerFunc
	}{
		{"a body without end", "more than 1048576 bytes", func(w http.ResponseWriter, _ *http.Request) {
			for range 3 << 10 {
				if _, err := w.Write(make([]byte, 1<<10)); err != nil {
					return
				}
			}
		}},
		{"headers without end", "does not speak HTTP", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X", strings.Repeat("x", 2*maxHeader))
		}},
		{"a redirect to the metadata", "redirects", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/latest/meta-data", http.StatusFound)
		}},
		{"another server", "not that of Prometheus", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>secret page</html>") }},
		{"JSON of another form", "not that of Prometheus", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"kind":"PodList"}`) }},
		{"half a response", "without a complete response", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, `{"status":`)
		}},
		{"a connection that is closed", "without a complete response", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		{"no rights", "refuses the credentials (status 401)", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, r.Header.Get("Authorization"))
		}},
		{"an error of the query", "status 400, bad_data: parse error", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"status":"error","errorType":"bad_data","error":"parse error"}`)
		}},
		{"an error that echoes the token", "execution: token ... is", func(w http.ResponseWriter, r *http.Request) {
			_, sent, _ := strings.Cut(r.Header.Get("Authorization"), " ")
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprintf(w, `{"status":"error","errorType":"execution","error":"token %s is\n\u001b[31mred"}`, sent)
		}},
		{"an echo where the text is cut", "status 500", func(w http.ResponseWriter, r *http.Request) {
			_, sent, _ := strings.Cut(r.Header.Get("Authorization"), " ")
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprintf(w, `{"status":"error","errorType":"e","error":"%s"}`, strings.Repeat("x", maxText-5)+sent)
		}},
		{"a status without words", "status 503", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, "internal detail")
		}},
	} {
		server := serving(t, true, c.serve)
		_, err := clientOf(t, hostOf(t, server)).Query(t.Context(), server.URL, "up",
			Credentials{Token: common.NewSecret(token), CA: certificate(server)})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want an error with %q, got %v", c.why, c.want, err)
			continue
		}
		for _, secret := range []string{token[:8], "127.0.0.1", "secret page", "internal detail", "\n", "\x1b"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: want no %q in the error, got %v", c.why, secret, err)
			}
		}
		if n := len(err.Error()); n > 2*maxText {
			t.Errorf("%s: want a bounded error, got %d bytes", c.why, n)
		}
	}
}

// TestRefusedBeforeTheRequest holds what is refused without a byte sent.
func TestRefusedBeforeTheRequest(t *testing.T) {
	t.Parallel()
	server := serving(t, false, func(http.ResponseWriter, *http.Request) { t.Error("the server was asked") })
	host := hostOf(t, server)
	_, port, err := net.SplitHostPort(host)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		why, address, want string
		allowed            []string
		with               Credentials
	}{
		{why: "the operator lists nothing", address: server.URL, want: "--gate-addresses"},
		{why: "another host is listed", address: server.URL, allowed: []string{"prometheus:*"}, want: "not allowed"},
		{why: "a network holds the manager", address: server.URL, allowed: []string{"0.0.0.0/0:*"}, want: "loopback"},
		{why: "a name resolves to the manager", address: "http://localhost:" + port, allowed: []string{"localhost:*"}, want: "loopback"},
		{why: "the token would be sent in clear text", address: server.URL, allowed: []string{host},
			with: Credentials{Token: common.NewSecret(token)}, want: "over https alone"},
		{why: "the address has a password", address: "http://u:" + token + "@" + host, allowed: []string{host}, want: "without user"},
		{why: "the authorities are none", address: "https://" + host, allowed: []string{host}, with: Credentials{CA: []byte(token)},
			want: "no certificate in PEM"},
	} {
		_, err := clientOf(t, c.allowed...).Query(t.Context(), c.address, "up", c.with)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), token) {
			t.Errorf("%s: want an error with %q, got %v", c.why, c.want, err)
		}
	}
}

// TestTLS holds that a server is who its certificate says, by the authorities of the Secret or else of the system.
func TestTLS(t *testing.T) {
	t.Parallel()
	answer := func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[]}}`)
	}
	secure, clear := serving(t, true, answer), serving(t, false, answer)
	for _, c := range []struct {
		why, address, want string
		ca                 []byte
	}{
		{"its own authority", secure.URL, "", certificate(secure)},
		{"the system's authorities", secure.URL, "unknown authority", nil},
		{"a name that the certificate does not have", strings.Replace(secure.URL, "127.0.0.1", "prometheus", 1), "not valid for the host",
			certificate(secure)},
		{"https to a server of http", strings.Replace(clear.URL, "http:", "https:", 1), "use an http address", nil},
	} {
		client := clientOf(t, hostOf(t, secure), hostOf(t, clear), "prometheus:*")
		client.Dialer.Resolve = func(context.Context, string, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		}
		_, err := client.Query(t.Context(), c.address, "up", Credentials{CA: c.ca})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: want %q, got %v", c.why, c.want, err)
		}
	}
}

// TestNoProxy holds that a proxy of the environment is not used: it would resolve the name by itself.
func TestNoProxy(t *testing.T) {
	proxy := serving(t, false, func(http.ResponseWriter, *http.Request) { t.Error("the proxy was asked") })
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY"} {
		t.Setenv(name, proxy.URL)
	}
	client := clientOf(t, "prometheus:80")
	client.Dialer.Resolve = func(context.Context, string, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("10.0.0.7")}, nil
	}
	client.Dialer.Dial = func(_ context.Context, _, address string) (net.Conn, error) {
		if address != "10.0.0.7:80" {
			t.Errorf("want the server dialed, got %s", address)
		}
		return nil, errors.New("refused")
	}
	if _, err := client.Query(t.Context(), "http://prometheus", "up", Credentials{}); err == nil {
		t.Error("want the error of the dialer")
	}
}

// TestSlow holds that a server which accepts and is silent, or drips, costs Timeout at most.
func TestSlow(t *testing.T) {
	t.Parallel()
	for _, drips := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			client := clientOf(t, "prometheus:80")
			client.Dialer.Resolve = func(context.Context, string, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr("10.0.0.7")}, nil
			}
			client.Dialer.Dial = func(context.Context, string, string) (net.Conn, error) {
				near, far := net.Pipe()
				go silent(far, drips)
				return near, nil
			}
			began := time.Now()
			_, err := client.Query(t.Context(), "http://prometheus", "up", Credentials{})
			if took := time.Since(began); err == nil || err.Error() != "no response within 10s" || took != Timeout {
				t.Errorf("drips %t: want the time limit, got %v after %s", drips, err, took)
			}
			time.Sleep(time.Minute) // the server finds the connection closed
		})
	}
}

// silent reads a request and responds with nothing, or with a byte a second.
func silent(connection net.Conn, drips bool) {
	defer connection.Close()
	buffer := make([]byte, 4096)
	if _, err := connection.Read(buffer); err != nil {
		return
	}
	if !drips {
		_, _ = connection.Read(buffer)
		return
	}
	if _, err := fmt.Fprint(connection, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"); err != nil {
		return
	}
	for {
		time.Sleep(time.Second)
		if _, err := connection.Write([]byte(" ")); err != nil {
			return
		}
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := listener.Addr().String()
	listener.Close()
	_, err = clientOf(t, host).Query(t.Context(), "http://"+host, "up", Credentials{})
	if err == nil || err.Error() != "connection refused" {
		t.Errorf("want the error without address and port, got %v", err)
	}
}
