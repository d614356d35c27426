package session

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/scaleway/scaleway-sdk-go/api/k8s/v1"
	"github.com/scaleway/scaleway-sdk-go/scw"
	"github.com/scaleway/scaleway-sdk-go/validation"

	scalewayv1 "github.com/muster-project/muster/api/scaleway/v1alpha2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/sweep"
	"github.com/muster-project/muster/cloud/wire"
)

const (
	// EndpointVariable names the environment variable with another address of the API for identities that name none.
	EndpointVariable = "MUSTER_SCALEWAY_ENDPOINT"
	// publicEndpoint is the address of the API.
	publicEndpoint = "https://api.scaleway.com"
	userAgent      = "muster"
)

// Options of the Sessions. The zero Options are right for production.
type Options struct {
	// Endpoint is the address of the API for identities that name none. Default: the value of EndpointVariable, else Scaleway's own.
	Endpoint string
	// Base sends the requests instead of the standard library's transport, for tests and recordings.
	Base http.RoundTripper
	// Hook and Around see every request.
	Hook   wire.Hook
	Around wire.Around
	// Timeout of one request. Default: wire.DefaultTimeout.
	Timeout time.Duration
	// Now is the clock. Default: time.Now.
	Now func() time.Time
}

// Session sends the requests of one identity about one project and region.
type Session struct {
	// Key tells sessions apart: by address, region, project and identity. What was observed through one says nothing about another.
	Key string
	// Region and Project are those of the clusters.
	Region, Project string

	client    *scw.Client
	identity  string
	now       func() time.Time
	documents *sweep.Sweep[*k8s.Cluster]
	clusters  *sweep.Sweep[Cluster]
}

// Sessions makes the session of each identity, project and region once. It is safe for concurrent use.
type Sessions struct {
	options   Options
	transport *wire.Transport
	mu        sync.Mutex
	// made are the sessions by place; one whose keys have changed since is replaced.
	made map[place]*Session
}

// place identifies the target of a session and the calling identity.
type place struct{ endpoint, region, project, identity string }

// New makes Sessions. It sends nothing.
func New(o Options) (*Sessions, error) {
	if o.Timeout < 0 {
		return nil, fmt.Errorf("scaleway driver: the timeout of a request is negative: want a positive one, or zero for the default")
	}
	if o.Endpoint == "" {
		o.Endpoint = os.Getenv(EndpointVariable)
	}
	if o.Endpoint == "" {
		o.Endpoint = publicEndpoint
	}
	if err := usable(o.Endpoint); err != nil {
		return nil, fmt.Errorf("scaleway driver: %w", err)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Sessions{options: o, made: map[place]*Session{}, transport: wire.New(wire.Options{
		Base: o.Base, Budgets: budgetsOf, Hook: o.Hook, Around: o.Around, Now: o.Now, Timeout: o.Timeout,
	})}, nil
}

// Now returns the time of the clock.
func (s *Sessions) Now() time.Time { return s.options.Now() }

// Close closes idle connections. The sessions can be used after it.
func (s *Sessions) Close() { s.transport.CloseIdleConnections() }

// Of returns the session of a cluster. The error names the key of the Secret that is not as it should be, and never holds a secret.
func (s *Sessions) Of(cluster scalewayv1.ClusterView) (*Session, error) {
	identity := cluster.Identity
	if identity == nil {
		return nil, &cloud.Error{Kind: cloud.Denied, Code: cloud.CodeNoCredentials, Message: "the credentials of the cluster have not been " +
			"read: spec.scalewaySecretName of the ScalewayManagedCluster names the Secret that holds them"}
	}
	at := place{endpoint: s.options.Endpoint, region: cluster.Region, project: cluster.ProjectID, identity: identity.Name}
	if identity.APIURL != "" {
		at.endpoint = identity.APIURL
	}
	at.endpoint = strings.TrimRight(at.endpoint, "/")
	key := strings.Join([]string{at.endpoint, at.region, at.project, identity.Fingerprint()}, "\n")
	s.mu.Lock()
	defer s.mu.Unlock()
	if found, ok := s.made[at]; ok && found.Key == key {
		return found, nil
	}
	made, err := s.build(at, identity)
	if err != nil {
		return nil, err
	}
	made.Key = key
	s.made[at] = made
	return made, nil
}

func (s *Sessions) build(at place, identity *scalewayv1.IdentityView) (*Session, error) {
	if err := check(at, identity); err != nil {
		return nil, err
	}
	out := &Session{Region: at.region, Project: at.project, identity: identity.Name, now: s.options.Now}
	host, err := url.Parse(at.endpoint)
	if err != nil {
		return nil, unusable(identity, "SCW_API_URL", "is no address")
	}
	out.client, err = scw.NewClient(scw.WithAuth(identity.AccessKey, identity.SecretKey.Expose()), scw.WithAPIURL(at.endpoint),
		scw.WithUserAgent(userAgent), scw.WithHTTPClient(&http.Client{Transport: &sender{to: s.transport, host: host.Host, session: out}}))
	if err != nil {
		return nil, unusable(identity, "", "is refused by Scaleway's client") // the text may quote what the Secret holds
	}
	out.documents = sweep.New(sweep.Options[*k8s.Cluster]{Some: out.readDocuments, Kept: documentAge, Now: s.options.Now})
	out.clusters = sweep.New(sweep.Options[Cluster]{Some: out.readClusters, Now: s.options.Now})
	return out, nil
}

// check returns what of an identity or a place can't be used.
func check(at place, identity *scalewayv1.IdentityView) error {
	switch {
	case !validation.IsAccessKey(identity.AccessKey):
		return unusable(identity, "SCW_ACCESS_KEY", "is no access key: want SCW and 17 letters and digits")
	case !validation.IsSecretKey(identity.SecretKey.Expose()):
		return unusable(identity, "SCW_SECRET_KEY", "is no secret key: want a UUID")
	case !validation.IsRegion(at.region):
		return cloud.Invalidf("spec.region", "the ScalewayManagedCluster names the region %q, which is none: want one like fr-par", at.region)
	case !validation.IsProjectID(at.project):
		return cloud.Invalidf("spec.projectID", "the ScalewayManagedCluster names the project %q, which is none: want a UUID", at.project)
	}
	if err := usable(at.endpoint); err != nil {
		return unusable(identity, "SCW_API_URL", "is no address of the API: want one like "+publicEndpoint)
	}
	return nil
}

func unusable(identity *scalewayv1.IdentityView, key, why string) error {
	return &cloud.Error{Kind: cloud.Denied, Code: cloud.CodeNoCredentials, Field: identity.Name, Message: strings.TrimSpace(key + " " + why)}
}

// usable returns what is wrong with the address of the API. Plain HTTP is for simulators on the same machine.
func usable(address string) error {
	at, err := url.Parse(address)
	switch {
	case err != nil || at.Host == "" || at.User != nil || at.RawQuery != "" || at.Fragment != "":
		return fmt.Errorf("%q is no address of an API: want one like %s", address, publicEndpoint)
	case at.Scheme == "https", at.Scheme == "http" && cloud.Loopback(at.Hostname()):
		return nil
	}
	return fmt.Errorf("%q is plain HTTP, where a key could be read on its way: want https, or http on a loopback address", address)
}
