// Package page serves the web page of a manager: behind the API server's authentication and authorization, with every read done as the
// asking user.
package page

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/view/accounts"
	"github.com/muster-project/muster/view/memory"
	"github.com/muster-project/muster/view/page"
	"github.com/muster-project/muster/view/plan"
)

// Settings are those of a command line.
type Settings struct {
	// BindAddress is the address of the page; empty serves none.
	BindAddress string
	// CertDir has the certificate (tls.crt) and its key (tls.key); without it the server makes a certificate for itself.
	CertDir string
	// TLS changes the configuration of TLS.
	TLS []func(*tls.Config)
	// Local serves the page over plain HTTP, without authentication, with the manager's own rights. BindAddress must be a loopback address.
	Local bool
	// Title of the pages.
	Title string
	// Simulators are the simulated clouds of a local world.
	Simulators []page.Simulator
}

// Options configure a page.
type Options struct {
	Settings
	// Config of the manager, whose service account may impersonate users and review tokens. Client reads with the manager's own rights, from
	// its cache: the namespaces that have pools.
	Config *rest.Config
	Client client.Client
	Scheme *runtime.Scheme
	// CloudOf returns the title of the cloud of an infrastructure kind.
	CloudOf func(kind string) string
	Memory  *memory.Memory
	// Plan makes plans, reading with the given client alone; nil has no view of plans.
	Plan func(ctx context.Context, c client.Client, r page.PlanRequest) ([]plan.Plan, error)
	// Metrics has the requests to clouds; nil shows none.
	Metrics prometheus.Gatherer
}

// The rights of the manager's account for the page are in config/page, in no other role: it is off by default, and impersonation is a
// strong right.
// +kubebuilder:rbac:groups="",resources=users;groups;serviceaccounts,verbs=impersonate
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=uids,verbs=impersonate

// Server serves the page while its manager runs, on every replica.
type Server struct{ o Options }

// New returns a server for a manager to run.
func New(o Options) (*Server, error) {
	host, _, err := net.SplitHostPort(o.BindAddress)
	if err != nil {
		return nil, fmt.Errorf("page bind address %q: want HOST:PORT: %w", o.BindAddress, err)
	}
	if ip := net.ParseIP(host); o.Local && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("page bind address %q: want a loopback address for a page without authentication", o.BindAddress)
	}
	return &Server{o: o}, nil
}

// NeedLeaderElection reports that every replica serves the page.
func (s *Server) NeedLeaderElection() bool { return false }

const (
	// headerLimit bounds the time for the header of a request, closing the time to end when the manager does.
	headerLimit, closing = 10 * time.Second, 2 * time.Second
	// readLimit bounds the time for a whole request, writeLimit the time from its header to the end of the answer: a plan takes a minute, and
	// streams bound the time of each message instead.
	readLimit, writeLimit = 30 * time.Second, 2 * time.Minute
)

// Start serves until ctx ends.
func (s *Server) Start(ctx context.Context) error {
	handler, err := s.handler(ctx)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.o.BindAddress)
	if err != nil {
		return fmt.Errorf("serve the page: %w", err)
	}
	if !s.o.Local {
		config, err := s.tls(ctx)
		if err != nil {
			return errors.Join(err, listener.Close())
		}
		listener = tls.NewListener(listener, config)
	}
	server := serverOf(handler)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve the page: %w", err)
	case <-ctx.Done():
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	if err := server.Shutdown(limited); err != nil {
		return server.Close()
	}
	return nil
}

// serverOf returns a server that no client holds up by being slow.
func serverOf(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: headerLimit, ReadTimeout: readLimit, WriteTimeout: writeLimit,
		MaxHeaderBytes: 2 * maxToken}
}

// handler returns the handler of all requests.
func (s *Server) handler(ctx context.Context) (http.Handler, error) {
	all := &viewers{o: s.o, now: time.Now, start: starter(ctx), known: map[string]*viewer{}}
	options := page.Options{Title: s.o.Title, CloudOf: s.o.CloudOf, Memory: s.o.Memory, Done: ctx.Done()}
	if s.o.Metrics != nil {
		options.Accounts = accounts.NewRecorder(s.o.Metrics)
		go sample(ctx, options.Accounts)
	}
	if s.o.Plan != nil {
		options.Plan = func(ctx context.Context, v *page.Viewer, r page.PlanRequest) ([]plan.Plan, error) {
			return s.o.Plan(ctx, v.Client, r)
		}
	}
	var reviews *reviewer
	if s.o.Local {
		options.Simulators = s.o.Simulators
		config := rest.CopyConfig(s.o.Config)
		direct, err := client.New(config, client.Options{Scheme: s.o.Scheme, Mapper: s.o.Client.RESTMapper()})
		if err != nil {
			return nil, fmt.Errorf("make the client of the page: %w", err)
		}
		local, err := all.watch(config, direct, "", nil)
		if err != nil {
			return nil, err
		}
		options.Viewer = func(*http.Request) (*page.Viewer, error) { return &local.Viewer, nil }
	} else {
		var err error
		if reviews, err = s.reviewer(); err != nil {
			return nil, err
		}
		go all.expire(ctx)
		options.Viewer = func(r *http.Request) (*page.Viewer, error) {
			user, ok := userOf(r.Context())
			if !ok {
				return nil, errUnauthorized
			}
			return all.get(r.Context(), user)
		}
	}
	pages, err := page.New(options)
	if err != nil {
		return nil, err
	}
	guarded := loopbackOnly(pages)
	if reviews != nil {
		guarded = &gate{reviews: reviews, pages: pages}
	}
	return http.NewCrossOriginProtection().Handler(guarded), nil
}

// reviewer returns a reviewer with a client of its own: requests without a valid token do not use up the manager's rate limit.
func (s *Server) reviewer() (*reviewer, error) {
	config := rest.CopyConfig(s.o.Config)
	config.RateLimiter, config.QPS, config.Burst = nil, reviewQPS, reviewBurst
	c, err := client.New(config, client.Options{Scheme: s.o.Scheme, Mapper: s.o.Client.RESTMapper()})
	if err != nil {
		return nil, fmt.Errorf("make the client that reviews tokens: %w", err)
	}
	return newReviewer(c), nil
}

// sample samples the requests to clouds until ctx ends.
func sample(ctx context.Context, r *accounts.Recorder) {
	tick := time.NewTicker(accounts.Every)
	defer tick.Stop()
	for {
		r.Sample(time.Now())
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// tls returns the configuration of TLS, with the given certificate or one of its own.
func (s *Server) tls(ctx context.Context) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	for _, change := range s.o.TLS {
		change(config)
	}
	if s.o.CertDir != "" {
		watcher, err := certwatcher.New(filepath.Join(s.o.CertDir, "tls.crt"), filepath.Join(s.o.CertDir, "tls.key"))
		if err != nil {
			return nil, fmt.Errorf("read the certificate of the page: %w", err)
		}
		config.GetCertificate = watcher.GetCertificate
		go func() { _ = watcher.Start(ctx) }() // ends with ctx; the certificate that was read stays
		return config, nil
	}
	cert, key, err := certutil.GenerateSelfSignedCertKey("localhost", []net.IP{{127, 0, 0, 1}}, nil)
	if err != nil {
		return nil, fmt.Errorf("make a certificate for the page: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate for the page: %w", err)
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}

// loopbackOnly refuses requests for another host: a page of the web may have its name lead to this machine.
func loopbackOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "want a request to 127.0.0.1 or localhost", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}
