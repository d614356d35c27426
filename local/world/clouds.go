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

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
	simazure "github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/nodes"
)

// Names of the clouds that are simulated.
const (
	aws   = "aws"
	azure = "azure"
)

// Clouds are the names of all clouds that can be simulated.
func Clouds() []string { return []string{aws, azure} }

const (
	// headerLimit bounds how long a client may take to send the head of a request.
	headerLimit = 10 * time.Second
	// drainLimit bounds how long requests in flight are waited for at the end.
	drainLimit = 2 * time.Second
)

// RunClouds is the child "clouds": the simulated clouds and the machines in them. It returns when it fails, when ctx
// ends, or when standard input ends.
func RunClouds(ctx context.Context, args []string) error {
	f := pflag.NewFlagSet(cloudsName, pflag.ContinueOnError)
	dir := f.String("dir", "", "directory of the world")
	clouds := f.StringSlice("clouds", Clouds(), "clouds to simulate")
	at := places{}
	f.IntVar(&at.AWS, "aws-port", 0, "port of the simulated AWS")
	f.IntVar(&at.Azure, "azure-port", 0, "port of the simulated Azure")
	speed := f.Float64("speed", 0, "how much faster than life machines come, boot and go")
	if err := f.Parse(args); err != nil {
		return err
	}
	l := layout(*dir)
	return process(ctx, cloudsName, l, func(ctx context.Context) error {
		return Simulate(ctx, Simulated{Dir: l.path("sim"), Clouds: *clouds, Speed: *speed, Listen: func(cloud string) (net.Listener, error) {
			return net.Listen("tcp", loopback(at.of(cloud)))
		}})
	})
}

// of is the port of a cloud.
func (p places) of(cloud string) int {
	if cloud == azure {
		return p.Azure
	}
	return p.AWS
}

// Simulated says which clouds are served, and how.
type Simulated struct {
	// Dir keeps what the clouds hold, a folder for each and one for the machines; empty keeps it in memory.
	Dir string
	// Clouds by name.
	Clouds []string
	// Speed is how much faster than life machines come, boot and go; zero means the simulators' default.
	Speed float64
	// Listen opens where a cloud is served.
	Listen func(cloud string) (net.Listener, error)
}

// simulator is one cloud.
type simulator interface {
	http.Handler
	Close() error
}

// Simulate serves simulated clouds, and runs their machines, until ctx ends.
func Simulate(ctx context.Context, s Simulated) (err error) {
	from := &sources{answers: make(chan struct{})}
	// Machines that ran before are on again before their cloud answers them.
	fleet := nodes.New(nodes.Options{Dir: s.sub("machines"), Speed: s.Speed, Fetch: from.fetch})
	defer fleet.Close()
	group, ctx := errgroup.WithContext(ctx)
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		err = errors.Join(err, group.Wait())
	}()
	for _, name := range s.Clouds {
		listener, err := s.Listen(name)
		if err != nil {
			return fmt.Errorf("listen for the simulated %s: %w", name, err)
		}
		cloud, err := s.open(name, fleet, from)
		if err != nil {
			return errors.Join(fmt.Errorf("simulate %s: %w", name, err), listener.Close())
		}
		group.Go(func() error { return errors.Join(serve(ctx, listener, cloud), cloud.Close()) })
	}
	close(from.answers)
	<-ctx.Done()
	return nil
}

// sub is a folder below the one that keeps everything; empty when nothing is kept.
func (s Simulated) sub(name string) string {
	if s.Dir == "" {
		return ""
	}
	return filepath.Join(s.Dir, name)
}

// open starts a cloud.
func (s Simulated) open(name string, fleet *nodes.Fleet, from *sources) (simulator, error) {
	if name == azure {
		return simazure.New(simazure.Options{Dir: s.sub(azure), Speed: s.Speed, Guests: fleet})
	}
	cloud, err := simaws.New(simaws.Options{Dir: s.sub(aws), Speed: s.Speed, Guests: fleet})
	if err != nil {
		return nil, err
	}
	from.aws = cloud
	return cloud, nil
}

// sources are where machines find what their user data points to.
type sources struct {
	aws *simaws.Server
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
	if m.Cloud != aws {
		return nil, fmt.Errorf("%w: nothing on the simulated %s gives %s", nodes.ErrRefused, m.Cloud, source)
	}
	content, err := s.aws.Fetch(ctx, m, source)
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

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
