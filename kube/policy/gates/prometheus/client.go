// Package prometheus asks servers with the API of Prometheus for the result of an instant query. A server is a stranger to the manager: the
// address, the time, the size of the response and what is sent are bounded, and nothing of a response is trusted.
package prometheus

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/kube/policy/gates"
	"github.com/muster-project/muster/kube/policy/gates/address"
)

const (
	// Timeout bounds a query from the resolution of the name to the last byte of the response.
	Timeout = 10 * time.Second
	// serverTimeout is the time that the server is asked to stay within, so that it gives a reason instead of no response.
	serverTimeout = "8s"
	// MaxBody is the size of the largest response, in bytes.
	MaxBody = 1 << 20
	// maxHeader is the size of the largest header of a response, in bytes.
	maxHeader = 64 << 10
	// maxURL is the length of the longest query in a URL; longer ones are sent in the body.
	maxURL = 4 << 10
	// userAgent names the client to the server.
	userAgent = "muster-gates"
)

// Credentials of a server. Both can be absent.
type Credentials struct {
	// Token is sent as a bearer token, over https alone.
	Token common.Secret
	// CA are certificate authorities in PEM, in place of the system's.
	CA []byte
}

// Client asks servers that the operator allows.
type Client struct {
	// Dialer connects to the servers and has the operator's list.
	Dialer address.Dialer
}

// ErrInsecureToken is returned for a token that would be sent in clear text.
var ErrInsecureToken = errors.New("the Secret has a token, which is sent over https alone: use an https address")

// Query returns the samples of an instant query. Errors hold neither credentials nor IP addresses.
func (c Client) Query(ctx context.Context, server, query string, with Credentials) ([]gates.Series, error) {
	a, err := address.New(server)
	if err != nil {
		return nil, err
	}
	if err := c.Dialer.List.Allows(a); err != nil {
		return nil, err
	}
	if !a.Secure() && !with.Token.Empty() {
		return nil, ErrInsecureToken
	}
	client, err := c.httpClient(a, with.CA)
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	req, err := request(ctx, a, query, with.Token)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, plain(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, MaxBody+1))
	switch {
	case err != nil:
		return nil, plain(err)
	case len(body) > MaxBody:
		return nil, fmt.Errorf("the response has more than %d bytes: aggregate in the query", MaxBody)
	}
	return parse(resp.StatusCode, body, texts{with.Token})
}

// httpClient returns a client for one request to one address: it follows no redirect, uses no proxy of the environment and shares no
// connection with a request that has other credentials.
func (c Client) httpClient(a address.Address, ca []byte) (*http.Client, error) {
	settings := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(ca) > 0 {
		settings.RootCAs = x509.NewCertPool()
		if !settings.RootCAs.AppendCertsFromPEM(ca) {
			return nil, fmt.Errorf("key %s of the Secret holds no certificate in PEM", gates.SecretCA)
		}
	}
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:            func(ctx context.Context, _, _ string) (net.Conn, error) { return c.Dialer.DialContext(ctx, a) },
			TLSClientConfig:        settings,
			DisableKeepAlives:      true,
			DisableCompression:     true,
			MaxResponseHeaderBytes: maxHeader,
		},
	}, nil
}

// request returns the request of a query. It is a GET, which servers and their proxies allow to those who may only read, unless the query
// is too long for a URL.
func request(ctx context.Context, a address.Address, query string, token common.Secret) (*http.Request, error) {
	target := a.Join("api", "v1", "query")
	form := url.Values{"query": {query}, "timeout": {serverTimeout}}.Encode()
	method, body := http.MethodGet, io.Reader(http.NoBody)
	if len(form) <= maxURL {
		target.RawQuery = form
	} else {
		method, body = http.MethodPost, strings.NewReader(form)
	}
	req, err := http.NewRequestWithContext(ctx, method, target.String(), body)
	if err != nil {
		return nil, address.ErrForm
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "application/json")
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if !token.Empty() {
		req.Header.Set("Authorization", "Bearer "+token.Expose())
	}
	return req, nil
}
