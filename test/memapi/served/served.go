// Package served is the API server in memory as a joining machine sees it, over HTTPS: with its CA, bootstrap tokens and client
// certificates, cluster-info, certificate signing, nodes, leases and pods with watches.
//
// It knows no admission, no defaults and no roles beyond those of its rules; the real API server has its own tests elsewhere.
package served

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/cluster-bootstrap/token/jws"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/sim/nodes/kubeadm"
	"github.com/muster-project/muster/test/memapi"
)

// Token is the bootstrap token that the server takes from the start.
const Token = "abcdef.0123456789abcdef"

// Options of a server.
type Options struct {
	// Sign decides over certificate requests; nil approves and signs all.
	Sign func(name string) SigningDecision
}

// SigningDecision over a certificate request.
type SigningDecision int

// The decisions: issue a certificate, deny it, fail it, or never answer.
const (
	Issue SigningDecision = iota
	Deny
	Fail
	Silence
)

// Server is one that runs.
type Server struct {
	http *httptest.Server
	api  *memapi.Server
	ca   *authority
	sign func(string) SigningDecision

	mu      sync.Mutex
	changed *sync.Cond
	closed  bool
	tokens  map[string]bool
	users   []string
	refuse  func(user, verb, path string) int
}

// Start runs a server that holds what kubeadm's phases upload. Close ends it.
func Start(o Options) (*Server, error) {
	ca, err := newAuthority()
	if err != nil {
		return nil, err
	}
	s := &Server{ca: ca, sign: o.Sign, tokens: map[string]bool{}, api: memapi.New(memapi.Options{
		Scheme: scheme.Scheme, Now: time.Now,
		Status: []client.Object{&corev1.Node{}, &corev1.Pod{}, &certificatesv1.CertificateSigningRequest{}},
		Indexes: []memapi.Index{{Object: &corev1.Pod{}, Field: nodeName,
			Values: func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} }}},
	})}
	if s.sign == nil {
		s.sign = func(string) SigningDecision { return Issue }
	}
	s.changed = sync.NewCond(&s.mu)
	serving, err := ca.serving()
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.http.TLS = &tls.Config{Certificates: []tls.Certificate{serving}, ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: pool}
	s.http.EnableHTTP2 = true
	s.http.StartTLS()
	if err := s.AddToken(Token); err != nil {
		return nil, err
	}
	for _, name := range []string{"kubeadm-config", "kubelet-config"} {
		if err := s.Put(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name}}); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Close ends the server and all watches.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.wake()
	s.http.CloseClientConnections()
	s.http.Close()
}

// Drop ends every connection, as a restart of the server would.
func (s *Server) Drop() { s.http.CloseClientConnections() }

// Endpoint is host:port of the server.
func (s *Server) Endpoint() string { return strings.TrimPrefix(s.http.URL, "https://") }

// Pin returns the CA's hash in the form of caCertHashes.
func (s *Server) Pin() string { return kubeadm.Pin(s.ca.cert) }

// CA returns the CA's certificate in PEM.
func (s *Server) CA() []byte { return s.ca.pem }

// Refuse has requests answered with the HTTP status that rule gives; 0 lets them through. Users are named as in Kubernetes,
// system:anonymous among them.
func (s *Server) Refuse(rule func(user, verb, path string) int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = rule
}

// AddToken has a bootstrap token taken and cluster-info signed with it.
func (s *Server) AddToken(token string) error {
	s.mu.Lock()
	s.tokens[token] = true
	s.mu.Unlock()
	return s.publish()
}

// ExpireToken has the effect of the token cleaner and the bootstrap signer on an expired token.
func (s *Server) ExpireToken(token string) error {
	s.mu.Lock()
	delete(s.tokens, token)
	s.mu.Unlock()
	return s.publish()
}

// publish writes cluster-info with a signature for each token.
func (s *Server) publish() error {
	kubeconfig, err := clientcmd.Write(clientcmdapi.Config{Clusters: map[string]*clientcmdapi.Cluster{"": {Server: s.http.URL,
		CertificateAuthorityData: s.ca.pem}}})
	if err != nil {
		return err
	}
	data := map[string]string{"kubeconfig": string(kubeconfig)}
	s.mu.Lock()
	tokens := s.tokens
	for t := range tokens {
		id, secret, _ := strings.Cut(t, ".")
		if data["jws-kubeconfig-"+id], err = jws.ComputeDetachedSignature(string(kubeconfig), id, secret); err != nil {
			break
		}
	}
	s.mu.Unlock()
	if err != nil {
		return fmt.Errorf("signature of cluster-info: %w", err)
	}
	return s.Put(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-public", Name: "cluster-info"}, Data: data})
}

// user returns the user of a request, as the API server's authenticators do; empty for an invalid credential.
func (s *Server) user(r *http.Request) string {
	if len(r.TLS.PeerCertificates) > 0 {
		return r.TLS.PeerCertificates[0].Subject.CommonName
	}
	header := r.Header.Get("Authorization")
	if header == "" {
		return "system:anonymous"
	}
	token := strings.TrimPrefix(header, "Bearer ")
	if !s.tokens[token] {
		return ""
	}
	id, _, _ := strings.Cut(token, ".")
	return "system:bootstrap:" + id
}
