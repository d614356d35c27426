package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/muster-project/muster/local/world"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/sim/azure"
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
kubeadm join configuration joins the cluster that it names. Each cloud has a port of its own: with --port the first cloud
that is named has that one, the next the one after it.`,
		Example: `  muster sim --clouds aws --port 4566 --dir ~/my-cloud
  muster sim --clouds azure`,
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
	listeners, err := s.listen()
	if err != nil {
		return err
	}
	for _, cloud := range s.clouds {
		s.tell(cloud, listeners[cloud].Addr().String())
	}
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
		out[cloud] = l
	}
	return out, nil
}

// tell prints where a cloud is and the settings that lead its clients there.
func (s *simulators) tell(cloud, addr string) {
	name, settings := "AWS", awsSettings(addr)
	if cloud == "azure" {
		name, settings = "Azure", azureSettings(addr)
	}
	_, _ = fmt.Fprintf(s.out, "Simulated %s, %v times faster than life. Its state, calls and faults are below http://%s%s.\n\n", name, s.speed, addr, sim.AdminPath)
	for _, line := range settings {
		_, _ = fmt.Fprintf(s.out, "  export %s\n", line)
	}
	_, _ = fmt.Fprintln(s.out)
}

func awsSettings(addr string) []string {
	account := aws.DefaultAccount()
	return []string{
		"AWS_ENDPOINT_URL=http://" + addr, "AWS_REGION=" + account.Region,
		"AWS_ACCESS_KEY_ID=" + account.AccessKeyID, "AWS_SECRET_ACCESS_KEY=" + account.SecretAccessKey,
	}
}

// azureSettings are read by Muster and by tools that take an endpoint from the environment; clients of the SDK are given it as their
// cloud's configuration. The secret is for the token endpoint, which answers below the same address.
func azureSettings(addr string) []string {
	return []string{
		"AZURE_RESOURCE_MANAGER_ENDPOINT=http://" + addr, "AZURE_SUBSCRIPTION_ID=" + azure.SubscriptionID, "AZURE_TENANT_ID=" + azure.TenantID,
		"AZURE_CLIENT_ID=" + azure.ClientID, "AZURE_CLIENT_SECRET=" + azure.ClientSecret,
		"AZURE_RESOURCE_GROUP=" + azure.ResourceGroup, "AZURE_LOCATION=" + azure.Location,
	}
}
