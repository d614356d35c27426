package session

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/oci/containerengine"
	"github.com/muster-project/muster/cloud/oci/core"
	"github.com/muster-project/muster/cloud/oci/workrequests"
	"github.com/muster-project/muster/cloud/sweep"
	"github.com/muster-project/muster/cloud/wire"
)

const (
	// EndpointVariable names the environment variable with an address that replaces those of all services, for simulators.
	EndpointVariable = "MUSTER_OCI_ENDPOINT"
	// DirectoryVariable names the environment variable with the directory of the controller's own credentials, as the ecosystem's provider
	// has it.
	DirectoryVariable = "AUTH_CONFIG_DIR"
	defaultDirectory  = "/etc/oci"
	// maxPlaces bounds the sessions of one identity.
	maxPlaces = 64
)

// Options of the Sessions. The zero Options are right for production.
type Options struct {
	// Endpoint is the address of all services. Default: the value of EndpointVariable, else Oracle's own.
	Endpoint string
	// Directory holds the controller's own credentials, one file each: tenancy, user, fingerprint, key, passphrase and region; or
	// useInstancePrincipal with true; or sessionToken and sessionPrivateKey beside useSessionToken. Default: the value of DirectoryVariable,
	// else /etc/oci.
	Directory string
	// Tokens are the addresses of the services that issue security tokens.
	Tokens TokenEndpoints
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

// Session sends requests to one region as one identity. It is safe for concurrent use.
//
// The errors of the clients are *cloud.Error. GET answers have the etag for if-match.
type Session struct {
	// Key tells sessions apart: by addresses, region and identity. What was observed through one says nothing about another.
	Key string
	// Region is the region of the clients.
	Region string
	// Core serves instance pools and their configurations, Engine Kubernetes Engine.
	Core   core.Client
	Engine containerengine.Client
	// Work serves the work requests of Core Services.
	Work workrequests.Client

	identity  string
	now       func() time.Time
	transport *wire.Transport

	nodePools      *sweep.Sweep[List[containerengine.NodePoolSummary]]
	virtualPools   *sweep.Sweep[List[containerengine.VirtualNodePoolSummary]]
	instancePools  *sweep.Sweep[List[core.InstancePoolSummary]]
	configurations *sweep.Sweep[List[core.InstanceConfigurationSummary]]
}

// Sessions makes the session of each identity and region once. It is safe for concurrent use.
type Sessions struct {
	options   Options
	transport *wire.Transport
	federated federated

	mu sync.Mutex
	// made are the sessions by place; one whose keys have changed since is replaced.
	made map[place]*Session
	own  ownCredentials
}

// place identifies the target of a session and the calling identity. The certificates are a digest.
type place struct {
	addresses                      addresses
	region, identity, certificates string
}

// New makes Sessions. It sends nothing.
func New(o Options) (*Sessions, error) {
	if o.Timeout < 0 {
		return nil, fmt.Errorf("oci driver: the timeout of a request is negative: want a positive one, or zero for the default")
	}
	o.Endpoint = strings.TrimRight(cmp.Or(o.Endpoint, os.Getenv(EndpointVariable)), "/")
	if err := usable(o.Endpoint); err != nil {
		return nil, fmt.Errorf("oci driver: %w", err)
	}
	o.Directory = cmp.Or(o.Directory, os.Getenv(DirectoryVariable), defaultDirectory)
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Sessions{options: o, made: map[place]*Session{}}
	s.transport = s.transportOver(o.Base)
	s.federated = newFederated(s)
	return s, nil
}

// transportOver returns the transport over a base; nil is the standard library's.
func (s *Sessions) transportOver(base http.RoundTripper) *wire.Transport {
	o := s.options
	return wire.New(wire.Options{Base: base, Budgets: budgetsOf, Hook: o.Hook, Around: o.Around, Now: o.Now, Timeout: o.Timeout})
}

// Now returns the time of the clock.
func (s *Sessions) Now() time.Time { return s.options.Now() }

// Close closes idle connections. The sessions can be used after it.
func (s *Sessions) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.transport.CloseIdleConnections()
	for _, one := range s.made {
		one.transport.CloseIdleConnections()
	}
}

// Of returns the session of a cluster. The error names what of the cluster or its identity is not as it should be, and never holds a
// secret. It sends nothing: what the services refuse shows with the first request.
func (s *Sessions) Of(cluster ociv1.ClusterView) (*Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	who, err := s.credentialsOf(cluster.Identity)
	if err != nil {
		return nil, err
	}
	at := place{region: cmp.Or(cluster.Region, who.region), identity: who.name, certificates: digest(cluster.Certificates)}
	if err := checkRegion(at.region); err != nil {
		return nil, err
	}
	if at.addresses, err = s.addressesOf(at.region, cluster.Endpoints); err != nil {
		return nil, err
	}
	key := strings.Join([]string{at.addresses.String(), at.region, at.certificates, who.fingerprint()}, "\n")
	found, ok := s.made[at]
	if ok && found.Key == key {
		return found, nil
	}
	made, err := s.build(at, who, cluster.Certificates)
	if err != nil {
		return nil, err
	}
	if ok && found.transport != s.transport {
		found.transport.CloseIdleConnections()
	}
	made.Key = key
	s.forget(at.identity)
	s.made[at] = made
	return made, nil
}

// forget drops the sessions of an identity if they are too many: tenants name regions, addresses and certificates, and may change them as
// often as they like. The lock is held.
func (s *Sessions) forget(identity string) {
	of := 0
	for at := range s.made {
		if at.identity == identity {
			of++
		}
	}
	if of < maxPlaces {
		return
	}
	maps.DeleteFunc(s.made, func(at place, one *Session) bool {
		if at.identity == identity && one.transport != s.transport {
			one.transport.CloseIdleConnections()
		}
		return at.identity == identity
	})
}

// build makes a session. The lock is held.
func (s *Sessions) build(at place, who credentials, certificates string) (*Session, error) {
	from, err := s.sourceOf(who)
	if err != nil {
		return nil, err
	}
	out := &Session{Region: at.region, identity: who.name, now: s.options.Now, transport: s.transport}
	if certificates != "" && s.options.Base == nil {
		base, err := trusting(certificates)
		if err != nil {
			return nil, err
		}
		out.transport = s.transportOver(base)
	}
	out.Core.Client = out.client(from, at.addresses.computeManagement, coreVersion, ServiceCore)
	out.Work.Client = out.client(from, at.addresses.workRequests, coreVersion, ServiceWork)
	out.Engine.Client = out.client(from, at.addresses.containerEngine, engineVersion, ServiceEngine)
	out.sweeps(s.options)
	return out, nil
}

// noCredentials returns the error of an identity that can't be used. part names what of it.
func noCredentials(identity, part, why string) *cloud.Error {
	return &cloud.Error{Kind: cloud.Denied, Code: cloud.CodeNoCredentials, Field: identity, Message: strings.TrimSpace(part + " " + why)}
}

// Now returns the time of the clock.
func (s *Session) Now() time.Time { return s.now() }
