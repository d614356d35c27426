package session

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"google.golang.org/api/compute/v1"
	"google.golang.org/api/container/v1"
	"google.golang.org/api/option"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/sweep"
	"github.com/muster-project/muster/cloud/wire"
)

// userAgent identifies Muster in Google's logs.
const userAgent = "muster"

// Options of the Sessions. The zero Options are right for production.
type Options struct {
	// Endpoint is the address of all services. Default: what EndpointVariable says, else Google's own.
	Endpoint string
	// Tokens gives the tokens of credentials, for tests. Default: by the document's type.
	Tokens func(Credentials) (oauth2.TokenSource, error)
	// Base sends the requests instead of the standard library's transport, for tests and recordings.
	Base http.RoundTripper
	// Hook observes every request.
	Hook wire.Hook
	// Around observes the start of every request as well.
	Around wire.Around
	// Timeout of one request. Default: wire.DefaultTimeout.
	Timeout time.Duration
	// Now is the clock. Default: time.Now.
	Now func() time.Time
	// Listing has the lists of the project answer whatever they may, also where they cost more than reads of single groups: for tests
	// with few of them.
	Listing bool
}

// Session are the clients of one project and credentials over one transport, and what was asked of them for all pools. The clients do not
// try again by themselves; everything that they refuse goes through Refusal.
type Session struct {
	// Key tells sessions apart: by addresses, project, and by who asks. What was observed through one says nothing about another.
	Key string
	// Project is the ID of the project that the clients speak about.
	Project string

	Compute   *compute.Service
	Container *container.Service

	credentials Credentials
	transport   *wire.Transport
	now         func() time.Time
	managers    *sweep.Sweep[Manager]
	project     *sweep.Sweep[[]*compute.InstanceGroupManager]
	members     *sweep.Sweep[Members]
	clusters    *sweep.Sweep[*container.Cluster]
}

// Sessions makes the session of each project and credentials once. It is safe for concurrent use.
type Sessions struct {
	options   Options
	transport *wire.Transport
	mu        sync.Mutex
	// made are the sessions; one whose credentials have changed since is replaced.
	made map[place]*Session
	// tokens are the sources of tokens, one for each name of credentials: projects share it.
	tokens map[string]*tokens
}

// place identifies the target of a session: the services' addresses, a project, and the credentials' name.
type place struct {
	bases         bases
	project, name string
}

// New makes Sessions. It sends nothing.
func New(o Options) (*Sessions, error) {
	if o.Timeout < 0 {
		return nil, fmt.Errorf("gcp driver: the timeout of a request is negative: want a positive one, or zero for the default")
	}
	if o.Endpoint == "" {
		o.Endpoint = os.Getenv(EndpointVariable)
	}
	o.Endpoint = strings.TrimRight(o.Endpoint, "/")
	if err := usable(o.Endpoint); err != nil {
		return nil, fmt.Errorf("gcp driver: %w", err)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Sessions{
		options: o, made: map[place]*Session{}, tokens: map[string]*tokens{},
		transport: wire.New(wire.Options{
			Base: o.Base, Budgets: budgetsOf, Hook: o.Hook, Around: o.Around, Now: o.Now, Timeout: o.Timeout,
		}),
	}, nil
}

// Now is the clock's time.
func (s *Sessions) Now() time.Time { return s.options.Now() }

// Of gives the session of a project.
func (s *Sessions) Of(_ context.Context, a Access) (*Session, error) {
	project, err := a.project()
	if err != nil {
		return nil, err
	}
	where, err := s.basesOf(a)
	if err != nil {
		return nil, err
	}
	at := place{bases: where, project: project, name: a.Credentials.Name}
	key := strings.Join([]string{where.compute, where.container, project, a.Credentials.Name, a.Credentials.JSON.Hash()}, "\n")
	s.mu.Lock()
	defer s.mu.Unlock()
	if found, ok := s.made[at]; ok && found.Key == key {
		return found, nil
	}
	made, err := s.build(at, a.Credentials)
	if err != nil {
		return nil, err
	}
	made.Key = key
	s.made[at] = made
	return made, nil
}

// build puts the clients over the transport.
func (s *Sessions) build(at place, credentials Credentials) (*Session, error) {
	made := &Session{Project: at.project, credentials: credentials, transport: s.transport, now: s.options.Now}
	client := &http.Client{Transport: &sender{
		to: s.transport, tokens: s.tokensOf(at.bases, credentials), hosts: []string{hostOf(at.bases.compute), hostOf(at.bases.container)},
		now: s.options.Now,
	}}
	var err error
	if made.Compute, err = compute.NewService(context.Background(), option.WithHTTPClient(client)); err == nil {
		made.Container, err = container.NewService(context.Background(), option.WithHTTPClient(client))
	}
	if err != nil {
		return nil, &cloud.Error{Kind: cloud.Invalid, Code: "NoClient", Message: Clean(fmt.Sprintf("the clients can't be made: %v", err))}
	}
	made.Compute.BasePath, made.Container.BasePath = at.bases.compute, at.bases.container
	made.Compute.UserAgent, made.Container.UserAgent = userAgent, userAgent
	made.managers, made.project = newManagers(made, s.options), newProjects(made, s.options)
	made.members = newMembers(made, s.options)
	made.clusters = newClusters(made, s.options)
	return made, nil
}

// Close closes idle connections. The sessions can be used after it.
func (s *Sessions) Close() { s.transport.CloseIdleConnections() }
