package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/sim/nodes"
)

const (
	// headerLimit bounds how long a client may take to say what it wants.
	headerLimit = 10 * time.Second
	// drainLimit bounds how long requests in flight are waited for at the end.
	drainLimit = 5 * time.Second
)

// simulators is one run of "muster sim".
type simulators struct {
	clouds []string
	port   int
	dir    string
	speed  float64
	out    io.Writer
}

// simCommand runs simulated clouds alone, for anyone's client.
func simCommand() *cobra.Command {
	s := &simulators{}
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Run simulated clouds alone, for any client of them",
		Long: `Run simulated clouds on 127.0.0.1 until Ctrl-C, without API servers and controllers. They speak the clouds' own protocols, so
that SDKs and command lines work unchanged with the settings that are printed. Machines boot from their user data: one with a
kubeadm join configuration joins the cluster that it names.`,
		Example: `  muster sim --clouds aws --port 4566 --dir ~/my-cloud`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.out = cmd.OutOrStdout()
			return s.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&s.clouds, "clouds", simulatedClouds, "clouds to simulate")
	f.IntVar(&s.port, "port", 0, "port on 127.0.0.1 (default: a free one)")
	f.StringVar(&s.dir, "dir", "", "folder that keeps the clouds' state and finds it again (default: memory)")
	f.Float64Var(&s.speed, "speed", sim.DefaultSpeed, "how much faster than life machines come, boot and go")
	return cmd
}

// run serves until ctx ends.
func (s *simulators) run(ctx context.Context) (err error) {
	if err := checkClouds(s.clouds); err != nil {
		return err
	}
	if s.speed <= 0 {
		return fmt.Errorf("--speed: wanted a number above 0, found %v", s.speed)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)))
	if err != nil {
		return fmt.Errorf("--port: %w", err)
	}
	fleet := nodes.New(nodes.Options{Dir: s.sub("machines"), Speed: s.speed})
	defer fleet.Close()
	cloud, err := aws.New(aws.Options{Dir: s.sub("aws"), Speed: s.speed, Guests: fleet})
	if err != nil {
		return errors.Join(fmt.Errorf("simulate AWS: %w", err), listener.Close())
	}
	defer func() { err = errors.Join(err, cloud.Close()) }()
	account := aws.DefaultAccount()
	_, _ = fmt.Fprintf(s.out, "Simulated AWS, %v times faster than life. Its state, calls and faults are below http://%s%s.\n\n", s.speed, listener.Addr(), sim.AdminPath)
	for _, line := range []string{
		"AWS_ENDPOINT_URL=http://" + listener.Addr().String(), "AWS_REGION=" + account.Region,
		"AWS_ACCESS_KEY_ID=" + account.AccessKeyID, "AWS_SECRET_ACCESS_KEY=" + account.SecretAccessKey,
	} {
		_, _ = fmt.Fprintf(s.out, "  export %s\n", line)
	}
	return serve(ctx, listener, cloud)
}

// sub is a folder below --dir; empty when everything is in memory.
func (s *simulators) sub(name string) string {
	if s.dir == "" {
		return ""
	}
	return filepath.Join(s.dir, name)
}

// serve answers on listener until ctx ends, and then lets the requests in flight finish.
func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: headerLimit}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainLimit)
		defer cancel()
		stopped <- server.Shutdown(ctx)
	})
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return <-stopped
}
