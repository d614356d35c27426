package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/tools/clientcmd"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	"github.com/muster-project/muster/local/pki"
)

const (
	// serviceRange of addresses for Services, as kubeadm has it; its first address belongs to the API server.
	serviceRange, serviceAddress = "10.96.0.0/12", "10.96.0.1"
	// shutdownLimit bounds how long a stopping server waits for its clients. The server's own limit, that of a request, would be a minute, and
	// clients with watches that do not know of the stop would use it up.
	shutdownLimit = time.Second
	// adminQPS and adminBurst of the administrator's client: throttling it would only slow the local world down.
	adminQPS, adminBurst = 1000, 2000
)

// Options holds the location and the parameters of one API server.
type Options struct {
	// Name of the server in its kubeconfig and certificates.
	Name string
	// Dir holds its certificates and keys; they are made when they do not exist.
	Dir string
	// Port on 127.0.0.1; zero takes a free one.
	Port int
	// Etcd is the store, and Prefix the server's own place in it ("/management").
	Etcd   *Etcd
	Prefix string
	// Flags are flags of kube-apiserver that add to or override those that are set here.
	Flags []string
	// Hooks run after the start in addition to the server's own. If one fails, the server is restarted.
	Hooks map[string]genericapiserver.PostStartHookFunc
	// Stall bounds the time without progress of a start; zero means stallLimit.
	Stall time.Duration
}

// Server is a running API server.
type Server struct {
	pki.Access

	stop context.CancelFunc
	done chan struct{}
	err  error
}

// Start starts a kube-apiserver and returns when it is ready. Several may run in one process: each takes its own copy
// of the feature gates and its own component registry. It ends with ctx or with Stop. A start that makes no progress is begun again a few
// times.
func Start(ctx context.Context, o Options) (*Server, error) {
	containHooks()
	if o.Stall == 0 {
		o.Stall = stallLimit
	}
	for attempt := 1; ; attempt++ {
		s, err := start(ctx, o)
		if !errors.Is(err, errStalled) || attempt == starts || ctx.Err() != nil {
			return s, err
		}
		klog.Warningf("start the API server %s again: %v", o.Name, err)
	}
}

// start starts it once.
func start(ctx context.Context, o Options) (*Server, error) {
	ca, err := pki.OpenAuthority(o.Dir, "ca", "kubernetes")
	if err != nil {
		return nil, err
	}
	s := &Server{Access: pki.Access{CA: ca}, done: make(chan struct{})}
	if s.ServiceAccountKey, s.ServiceAccountPub, err = pki.OpenKeyPair(o.Dir, "sa"); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port)))
	if err != nil {
		return nil, fmt.Errorf("listen for the API server %s: %w", o.Name, err)
	}
	s.Port = listener.Addr().(*net.TCPAddr).Port
	s.URL = "https://127.0.0.1:" + strconv.Itoa(s.Port)
	if err := s.client(o); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	ctx, s.stop = context.WithCancel(ctx)
	if err := s.run(ctx, o, listener); err != nil {
		s.stop()
		return nil, errors.Join(fmt.Errorf("start the API server %s: %w", o.Name, err), listener.Close())
	}
	if err := s.waitReady(ctx, o.Stall); err != nil {
		s.Stop()
		return nil, fmt.Errorf("start the API server %s: %w", o.Name, err)
	}
	if err := s.establish(ctx); err != nil {
		s.Stop()
		return nil, fmt.Errorf("start the API server %s: %w", o.Name, err)
	}
	return s, nil
}

// client makes the administrator's kubeconfig and configuration.
func (s *Server) client(o Options) (err error) {
	if s.Kubeconfig, err = s.CA.Kubeconfig(s.URL, o.Name, pki.Admin()); err != nil {
		return err
	}
	if s.Config, err = clientcmd.RESTConfigFromKubeConfig(s.Kubeconfig); err != nil {
		return fmt.Errorf("read the kubeconfig of %s back: %w", o.Name, err)
	}
	s.Config.QPS, s.Config.Burst = adminQPS, adminBurst
	return nil
}

// run builds the server and starts it in the background.
func (s *Server) run(ctx context.Context, o Options, listener net.Listener) error {
	completed, err := s.options(ctx, o, listener)
	if err != nil {
		return err
	}
	config, err := app.NewConfig(completed)
	if err != nil {
		return err
	}
	complete, err := config.Complete()
	if err != nil {
		return err
	}
	chain, err := app.CreateServerChain(complete)
	if err != nil {
		return err
	}
	chain.GenericAPIServer.ShutdownTimeout = shutdownLimit
	for name, hook := range o.Hooks {
		if err := chain.GenericAPIServer.AddPostStartHook(name, hook); err != nil {
			return err
		}
	}
	prepared, err := chain.PrepareRun()
	if err != nil {
		return err
	}
	go func() {
		defer close(s.done)
		s.err = prepared.Run(ctx)
	}()
	return nil
}

// options are kube-apiserver's own, filled in from its own flags.
func (s *Server) options(ctx context.Context, o Options, listener net.Listener) (options.CompletedOptions, error) {
	none := options.CompletedOptions{}
	registry := basecompatibility.NewComponentGlobalsRegistry()
	gate := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	if err := registry.Register(basecompatibility.DefaultKubeComponent, release{compatibility.DefaultBuildEffectiveVersion()},
		gate); err != nil {
		return none, err
	}
	run := options.NewServerRunOptions()
	run.GenericServerRunOptions.ComponentGlobalsRegistry = registry
	run.SecureServing.Listener, run.SecureServing.BindPort = listener, s.Port
	run.SecureServing.BindAddress = net.IPv4(127, 0, 0, 1)
	run.SecureServing.ExternalAddress = net.IPv4(127, 0, 0, 1)

	flags, err := s.flags(o)
	if err != nil {
		return none, err
	}
	set := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, f := range run.Flags().FlagSets {
		set.AddFlagSet(f)
	}
	if err := set.Parse(flags); err != nil {
		return none, err
	}
	if err := registry.Set(); err != nil {
		return none, err
	}
	completed, err := run.Complete(ctx)
	if err != nil {
		return none, err
	}
	return completed, utilerrors.NewAggregate(completed.Validate())
}

// flags returns the flags that kubeadm gives a kube-apiserver, except those that need control plane machines.
func (s *Server) flags(o Options) ([]string, error) {
	cert, key, err := s.CA.IssueFiles("apiserver", pki.Subject{CommonName: "kube-apiserver", Server: true,
		Hosts: []string{"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local", serviceAddress}})
	if err != nil {
		return nil, err
	}
	base := s.CA.CertFile[:len(s.CA.CertFile)-len("ca.crt")]
	flags := []string{
		"--etcd-servers=" + o.Etcd.URL,
		"--etcd-prefix=" + o.Prefix,
		"--tls-cert-file=" + cert,
		"--tls-private-key-file=" + key,
		"--client-ca-file=" + s.CA.CertFile,
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--enable-bootstrap-token-auth=true",
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + base + "sa.pub",
		"--service-account-signing-key-file=" + base + "sa.key",
		"--service-cluster-ip-range=" + serviceRange,
		"--advertise-address=127.0.0.1",
		// The Service "kubernetes" would need an address that is not loopback; nothing here uses it.
		"--endpoint-reconciler-type=none",
		"--allow-privileged=true",
		"--profiling=false",
	}
	return append(flags, o.Flags...), nil
}

// Done is closed when the server has ended.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err is why the server ended; it is nil before Done is closed and after an ordinary stop.
func (s *Server) Err() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}

// Stop ends the server and returns when it has let go of its port and its store.
func (s *Server) Stop() {
	s.stop()
	<-s.done
}
