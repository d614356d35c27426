package world

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/muster-project/muster/local/clouds"
	"github.com/muster-project/muster/local/clouds/all"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/nodes"
)

const (
	// headerLimit bounds how long a client may take to send the head of a request.
	headerLimit = 10 * time.Second
	// drainLimit bounds how long requests in flight are waited for at the end.
	drainLimit = 2 * time.Second
)

// Simulated selects the clouds to serve, with their parameters.
type Simulated struct {
	// Dir keeps what the clouds hold, a folder for each and one for the machines; empty keeps it in memory.
	Dir string
	// Clouds by name.
	Clouds []string
	// Speed is the factor by which machines start, boot and stop faster than in a real cloud; zero means the simulators' default.
	Speed float64
	// Listen opens the listener of a cloud.
	Listen func(cloud string) (net.Listener, error)
}

// Simulate serves simulated clouds, and runs their machines, until ctx ends.
func Simulate(ctx context.Context, s Simulated) (err error) {
	from := &sources{of: map[string]fetch{}, answers: make(chan struct{})}
	// Machines that ran before are on again before their cloud answers them.
	fleet := nodes.New(nodes.Options{Dir: s.sub("machines"), Speed: s.Speed, Fetch: from.fetch})
	defer fleet.Close()
	group, ctx := errgroup.WithContext(ctx)
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		err = errors.Join(err, group.Wait())
	}()
	for _, cloud := range all.Named(s.Clouds...) {
		listener, err := s.Listen(cloud.Name)
		if err != nil {
			return fmt.Errorf("listen for the simulated %s: %w", cloud.Name, err)
		}
		simulator, err := cloud.Simulate(clouds.Options{Dir: s.sub(cloud.Name), Speed: s.Speed, MachineHost: fleet})
		if err != nil {
			return errors.Join(fmt.Errorf("simulate %s: %w", cloud.Name, err), listener.Close())
		}
		from.of[cloud.Name] = simulator.Fetch
		group.Go(func() error { return errors.Join(serve(ctx, listener, simulator.Handler), simulator.Close()) })
	}
	close(from.answers)
	<-ctx.Done()
	return nil
}

// sub returns a folder below the one that keeps everything; empty when nothing is kept.
func (s Simulated) sub(name string) string {
	if s.Dir == "" {
		return ""
	}
	return filepath.Join(s.Dir, name)
}

// fetch returns what a machine's user data points to.
type fetch func(ctx context.Context, m sim.Machine, source string) ([]byte, error)

// sources are where machines find what their user data points to.
type sources struct {
	// of the clouds by name; nil for a cloud that holds nothing for machines.
	of map[string]fetch
	// answers is closed when all clouds are there.
	answers chan struct{}
}

// fetch gets something for a machine as its own cloud lets it.
func (s *sources) fetch(ctx context.Context, m sim.Machine, source string) ([]byte, error) {
	select {
	case <-s.answers:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	fetch := s.of[m.Cloud]
	if fetch == nil {
		return nil, fmt.Errorf("%w: nothing on the simulated %s gives %s", nodes.ErrRefused, m.Cloud, source)
	}
	content, err := fetch(ctx, m, source)
	if err != nil {
		err = fmt.Errorf("%w: %w", nodes.ErrRefused, err)
	}
	return content, err
}

// serve answers on listener until ctx ends.
func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: headerLimit}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve a simulated cloud: %w", err)
	case <-ctx.Done():
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainLimit)
		defer cancel()
		return server.Shutdown(ctx)
	}
}

// Loopback returns the address of a port of this machine.
func Loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
