// Package apiclient opens connections from simulated machines to API servers.
//
// Each machine has one connection, made with its own certificate, and it ends when the machine does: client-go's shared transports
// live as long as the process, which would keep a connection for every machine that ever was.
package apiclient

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	certificatesv1 "k8s.io/client-go/kubernetes/typed/certificates/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
)

// Limits of one connection. A machine whose API server does not answer within them tries again with a fresh connection.
const (
	dialTimeout      = 10 * time.Second
	handshakeTimeout = 10 * time.Second
	idleTimeout      = 2 * time.Minute
	// pingAfter finds a connection whose other end went away without a word; a busy one is never pinged.
	pingAfter   = 30 * time.Second
	pingTimeout = 15 * time.Second
)

// DialFunc opens a network connection, as net.Dialer.DialContext does.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// Access describes the access to an API server: its address, its authority, and the machine's credentials.
type Access struct {
	// Server is a URL such as https://127.0.0.1:6443.
	Server string
	// CA holds the certificates, in PEM, that the server is verified against. Nil together with Insecure trusts anyone.
	CA       []byte
	Insecure bool
	// Token is sent as a bearer token when it is set.
	Token string
	// Cert and Key are a client certificate and its key in PEM, when there is one.
	Cert, Key []byte
}

// String is the server alone, so that no message can show a credential.
func (a Access) String() string { return a.Server }

// GoString is String.
func (a Access) GoString() string { return a.Server }

// Client talks to one API server as one user.
type Client struct {
	Core         corev1.CoreV1Interface
	Coordination coordinationv1.CoordinationV1Interface
	Certificates certificatesv1.CertificatesV1Interface

	transport *http.Transport
	conns     *conns
}

// Open makes a client; nothing is sent yet. A nil dial means the network.
func Open(a Access, dial DialFunc) (*Client, error) {
	tlsConfig, err := a.tlsConfig()
	if err != nil {
		return nil, err
	}
	if dial == nil {
		dial = (&net.Dialer{Timeout: dialTimeout}).DialContext
	}
	open := &conns{dial: dial, open: map[*conn]struct{}{}}
	t := &http.Transport{
		DialContext: open.connect, TLSClientConfig: tlsConfig, TLSHandshakeTimeout: handshakeTimeout,
		ForceAttemptHTTP2: true, IdleConnTimeout: idleTimeout, MaxIdleConnsPerHost: 2,
		HTTP2: &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
	}
	c := &Client{transport: t, conns: open}
	return c, c.clients(a, t)
}

func (c *Client) clients(a Access, t http.RoundTripper) error {
	if a.Token != "" {
		t = transport.NewBearerAuthRoundTripper(a.Token, t)
	}
	config := &rest.Config{Host: a.Server, QPS: -1, WarningHandler: rest.NoWarnings{}, UserAgent: "kubelet (simulated machine)"}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	h := &http.Client{Transport: t}
	core, err := corev1.NewForConfigAndClient(config, h)
	if err != nil {
		return fmt.Errorf("client of %s: %w", a.Server, err)
	}
	coordination, err := coordinationv1.NewForConfigAndClient(config, h)
	if err != nil {
		return fmt.Errorf("client of %s: %w", a.Server, err)
	}
	certificates, err := certificatesv1.NewForConfigAndClient(config, h)
	if err != nil {
		return fmt.Errorf("client of %s: %w", a.Server, err)
	}
	c.Core, c.Coordination, c.Certificates = core, coordination, certificates
	return nil
}

// Close ends every connection at once, also one in the middle of a watch.
func (c *Client) Close() {
	c.conns.closeAll()
	c.transport.CloseIdleConnections()
}

func (a Access) tlsConfig() (*tls.Config, error) {
	// Insecure is used by kubeadm's discovery for a server that it cannot verify yet. The token's signature authenticates the result.
	config := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: a.Insecure}
	if len(a.CA) > 0 {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(a.CA) {
			return nil, fmt.Errorf("CA of %s holds no certificate in PEM", a.Server)
		}
	}
	if len(a.Cert) > 0 {
		pair, err := tls.X509KeyPair(a.Cert, a.Key)
		if err != nil {
			return nil, fmt.Errorf("client certificate for %s: %w", a.Server, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// conns knows the connections that are open, so that they can be ended with the machine.
type conns struct {
	dial   DialFunc
	mu     sync.Mutex
	open   map[*conn]struct{}
	closed bool
}

type conn struct {
	net.Conn
	of *conns
}

func (c *conns) connect(ctx context.Context, network, address string) (net.Conn, error) {
	raw, err := c.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	k := &conn{Conn: raw, of: c}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		_ = raw.Close() // The client was closed while the dial was under way: this one stays unused.
		return nil, net.ErrClosed
	}
	c.open[k] = struct{}{}
	return k, nil
}

// Close ends the connection.
func (k *conn) Close() error {
	k.of.mu.Lock()
	delete(k.of.open, k)
	k.of.mu.Unlock()
	return k.Conn.Close()
}

func (c *conns) closeAll() {
	c.mu.Lock()
	all := c.open
	c.open, c.closed = map[*conn]struct{}{}, true
	c.mu.Unlock()
	for k := range all {
		_ = k.Conn.Close() // Closing is all that is wanted; what it says about the other end does not matter.
	}
}
