package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/muster-project/muster/local/clouds"
	"github.com/muster-project/muster/local/clouds/all"
	"github.com/muster-project/muster/local/world"
	"github.com/muster-project/muster/sim"
)

// simulators is one run of "muster sim".
type simulators struct {
	clouds []string
	port   int
	dir    string
	speed  float64
	out    io.Writer
	// tls serves HTTPS, under the names beside those that clients have fixed; caFile is where the certificate of the CA is written.
	tls    bool
	names  []string
	caFile string
	// certificates is what is served under, nil for HTTP.
	certificates *certificates
}

// simCommand runs simulated clouds alone, for any client.
func simCommand() *cobra.Command {
	s := &simulators{}
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Run simulated clouds alone, for any client of them",
		Long: `Run simulated clouds on 127.0.0.1 until Ctrl-C, without API servers and controllers. They speak the clouds' own protocols, so
that SDKs and command lines work unchanged with the settings that are printed. Machines boot from their user data: one with a
kubeadm join configuration joins the cluster that it names. Each cloud has a port of its own: with --port the first cloud
that is named has that one, the next the one after it.

` + wrapped(fmt.Sprintf("With --tls the clouds are served over HTTPS. The certificate is valid for this machine, for the hosts that the "+
			"clouds' clients reach by default (%s ...) and for each --tls-name, so that clients whose endpoints are fixed can be pointed here by "+
			"name resolution. Its CA is printed, and written to --tls-ca; --dir keeps it.",
			examples(func(h clouds.Help) string { return h.Hosts }))),
		Example: fmt.Sprintf(`  muster sim --clouds %s --port 4566 --dir ~/my-cloud
  muster sim --clouds %s --tls --tls-ca ca.crt`, simulatedClouds[0], simulatedClouds[len(simulatedClouds)-1]),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.out = cmd.OutOrStdout()
			return s.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&s.clouds, "clouds", simulatedClouds, "clouds to simulate")
	f.IntVar(&s.port, "port", 0, "port on 127.0.0.1 of the first cloud (default: free ones)")
	f.StringVar(&s.dir, "dir", "", "folder that keeps the clouds' state and finds it again (default: memory)")
	f.Float64Var(&s.speed, "speed", sim.DefaultSpeed, "how much faster than life machines come, boot and go")
	f.BoolVar(&s.tls, "tls", false, "serve HTTPS with a certificate that is generated, and print its CA")
	f.StringSliceVar(&s.names, "tls-name", nil, "host name that the certificate is valid for as well; may be repeated")
	f.StringVar(&s.caFile, "tls-ca", "", "file that the certificate of the CA is written to")
	return cmd
}

// run serves until ctx ends.
func (s *simulators) run(ctx context.Context) error {
	if err := checkClouds(s.clouds); err != nil {
		return err
	}
	if s.speed <= 0 {
		return fmt.Errorf("--speed: wanted a number above 0, found %v", s.speed)
	}
	if err := s.identify(); err != nil {
		return err
	}
	listeners, err := s.listen()
	if err != nil {
		return err
	}
	for _, cloud := range all.Named(s.clouds...) {
		s.tell(cloud, listeners[cloud.Name].Addr().String())
	}
	s.tellCA()
	return world.Simulate(ctx, world.Simulated{Dir: s.dir, Clouds: s.clouds, Speed: s.speed, Listen: func(cloud string) (net.Listener, error) {
		return listeners[cloud], nil
	}})
}

// listen opens a port for each cloud, before any of them is made: what is told is what is served.
func (s *simulators) listen() (map[string]net.Listener, error) {
	out := map[string]net.Listener{}
	for i, cloud := range s.clouds {
		port := s.port
		if port > 0 {
			port += i
		}
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			err = fmt.Errorf("--port: %w", err)
			for _, open := range out {
				err = errors.Join(err, open.Close())
			}
			return nil, err
		}
		if s.certificates != nil {
			l = s.certificates.over(l)
		}
		out[cloud] = l
	}
	return out, nil
}

// identify makes or finds what is served under with --tls, and writes its CA where that was asked for.
func (s *simulators) identify() error {
	if !s.tls {
		if s.caFile != "" || len(s.names) > 0 {
			return errors.New("--tls-ca and --tls-name: wanted together with --tls, found without it")
		}
		return nil
	}
	dir := ""
	if s.dir != "" {
		dir = filepath.Join(s.dir, "tls")
	}
	var err error
	if s.certificates, err = loadCertificates(dir, append(fixedNames(), s.names...)); err != nil {
		return fmt.Errorf("--tls: %w", err)
	}
	if s.caFile == "" {
		return nil
	}
	if err := os.WriteFile(s.caFile, s.certificates.ca, 0o644); err != nil {
		return fmt.Errorf("--tls-ca: %w", err)
	}
	return nil
}

// tellCA prints the CA by which clients know the clouds, and the settings that lead them to it.
func (s *simulators) tellCA() {
	if s.certificates == nil {
		return
	}
	if s.caFile != "" {
		for _, variable := range authorities() {
			_, _ = fmt.Fprintf(s.out, "  export %s=%s\n", variable, strconv.Quote(s.caFile))
		}
		_, _ = fmt.Fprintln(s.out)
	}
	_, _ = fmt.Fprintf(s.out, "The certificate of the CA that clients have to trust:\n\n%s\n", s.certificates.ca)
}

// base is the URL of a cloud at the address.
func (s *simulators) base(addr string) string {
	if s.certificates != nil {
		return "https://" + addr
	}
	return "http://" + addr
}

// tell prints where a cloud is and the settings that lead its clients there.
func (s *simulators) tell(cloud clouds.Cloud, addr string) {
	base := s.base(addr)
	_, _ = fmt.Fprintf(s.out, "Simulated %s, %v times faster than life. Its state, calls and faults are below %s%s: see "+
		"docs/simulators.md.\n\n", cloud.Title, s.speed, base, sim.AdminPath)
	for _, line := range cloud.Clients.Account(base) {
		_, _ = fmt.Fprintf(s.out, "  export %s\n", line)
	}
	_, _ = fmt.Fprintln(s.out)
}
