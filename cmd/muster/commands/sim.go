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
	// tls serves HTTPS, under names in addition to the fixed ones of clients. The certificate of the CA is written to caFile.
	tls    bool
	names  []string
	caFile string
	// certificates holds the serving certificates, nil for HTTP.
	certificates *certificates
}

// simCommand runs simulated clouds alone, for any client.
func simCommand() *cobra.Command {
	s := &simulators{}
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Run simulated clouds without API servers and controllers",
		Long: `Run simulated clouds on 127.0.0.1 until Ctrl-C, without API servers and controllers. They serve the clouds' own protocols, so that
SDKs and command-line tools work unchanged with the settings that the command prints. Machines boot from their user data: a
machine with a kubeadm join configuration joins the cluster that the configuration names. Each cloud listens on its own port. With
--port, the first cloud of --clouds gets that port, and each further cloud the next one.

` + wrapped(fmt.Sprintf("With --tls, the clouds are served over HTTPS. The certificate is valid for localhost, for the default hosts of "+
			"the clouds (%s ...) and for each --tls-name, so that clients with fixed endpoints can be redirected by name resolution. The "+
			"command prints the CA and writes it to --tls-ca. With --dir, the CA stays the same between runs.",
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
	f.StringSliceVar(&s.clouds, "clouds", simulatedClouds, "Clouds to simulate.")
	f.IntVar(&s.port, "port", 0, "Port on 127.0.0.1 of the first cloud. If unspecified, free ports are used.")
	f.StringVar(&s.dir, "dir", "", "Directory that stores the state of the clouds between runs. If unspecified, the state is kept in memory.")
	f.Float64Var(&s.speed, "speed", sim.DefaultSpeed, "Factor by which machines launch, boot and terminate faster than in a real cloud.")
	f.BoolVar(&s.tls, "tls", false, "Serve HTTPS with a generated certificate, and print its CA.")
	f.StringSliceVar(&s.names, "tls-name", nil, "Additional host name of the certificate. The flag may be repeated.")
	f.StringVar(&s.caFile, "tls-ca", "", "File to write the CA certificate to.")
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
		s.printSettings(cloud, listeners[cloud.Name].Addr().String())
	}
	s.tellCA()
	return world.Simulate(ctx, world.Simulated{Dir: s.dir, Clouds: s.clouds, Speed: s.speed, Listen: func(cloud string) (net.Listener, error) {
		return listeners[cloud], nil
	}})
}

// listen opens a port for each cloud before any of them starts, so that the printed addresses are those that are served.
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

// identify creates or loads the serving certificates for --tls, and writes the CA if requested.
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

// base returns the URL of a cloud at the address.
func (s *simulators) base(addr string) string {
	if s.certificates != nil {
		return "https://" + addr
	}
	return "http://" + addr
}

// printSettings prints where a cloud is and the settings that lead its clients there.
func (s *simulators) printSettings(cloud clouds.Cloud, addr string) {
	base := s.base(addr)
	_, _ = fmt.Fprintf(s.out, "Simulated %s, %v times faster than life. Its state, calls and faults are below %s%s: see "+
		"docs/simulators.md.\n\n", cloud.Title, s.speed, base, sim.AdminPath)
	for _, line := range cloud.Clients.Account(base) {
		_, _ = fmt.Fprintf(s.out, "  export %s\n", line)
	}
	_, _ = fmt.Fprintln(s.out)
}
