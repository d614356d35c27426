package world

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/muster-project/muster/local/awsnetwork"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/sim/nodes"
)

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
	port := f.Int("aws-port", 0, "port of the simulated AWS")
	speed := f.Float64("speed", 0, "how much faster than life machines come, boot and go")
	if err := f.Parse(args); err != nil {
		return err
	}
	l := layout(*dir)
	return process(ctx, cloudsName, l, func(ctx context.Context) error { return l.simulate(ctx, *port, *speed) })
}

// simulate serves the simulated clouds until ctx ends.
func (l layout) simulate(ctx context.Context, port int, speed float64) (err error) {
	listener, err := net.Listen("tcp", loopback(port))
	if err != nil {
		return fmt.Errorf("listen for the simulated AWS: %w", err)
	}
	// Machines that ran before are on again before the cloud answers them.
	var cloud *aws.Server
	answers := make(chan struct{})
	fleet := nodes.New(nodes.Options{Dir: l.path("sim", "machines"), Speed: speed, Fetch: func(ctx context.Context, m sim.Machine, source string) ([]byte, error) {
		select {
		case <-answers:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		content, err := cloud.Fetch(ctx, m, source)
		if err != nil {
			err = fmt.Errorf("%w: %w", nodes.ErrRefused, err)
		}
		return content, err
	}})
	defer fleet.Close()
	cloud, err = aws.New(aws.Options{Dir: l.path("sim", "aws"), Speed: speed, Guests: fleet})
	if err != nil {
		return errors.Join(fmt.Errorf("simulate AWS: %w", err), listener.Close())
	}
	defer func() { err = errors.Join(err, cloud.Close()) }()
	close(answers)
	server := &http.Server{Handler: cloud, ReadHeaderTimeout: headerLimit}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve the simulated AWS: %w", err)
	case <-ctx.Done():
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainLimit)
		defer cancel()
		return server.Shutdown(ctx)
	}
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// network is what the simulated account holds. Only its own region has a network that is known beforehand.
func network(region string) awsnetwork.Network {
	a := aws.DefaultAccount()
	if region != "" && region != a.Region {
		return awsnetwork.Network{Region: region}
	}
	n := awsnetwork.Network{Region: a.Region, VPC: a.Network.VPCID, NodeSecurityGroup: a.Network.NodeSecurityGroupID}
	for _, s := range a.Network.Subnets {
		n.Subnets = append(n.Subnets, awsnetwork.Subnet{ID: s.ID, Zone: s.Zone, CIDR: s.CIDR, Public: s.Public})
	}
	return n
}

// cloudEnvironment are the settings with which AWS's SDKs and tools reach the simulated account.
func (p places) cloudEnvironment() []string {
	a := aws.DefaultAccount()
	return []string{
		"AWS_ENDPOINT_URL=http://" + loopback(p.AWS),
		"AWS_REGION=" + a.Region,
		"AWS_ACCESS_KEY_ID=" + a.AccessKeyID,
		"AWS_SECRET_ACCESS_KEY=" + a.SecretAccessKey,
	}
}

// controllersEnvironment is that of this process with the simulated account in place of whatever account it names: a
// local world never reaches a real one.
func (p places) controllersEnvironment() []string {
	env := slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "AWS_") })
	return append(append(env, p.cloudEnvironment()...),
		"AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull, "AWS_EC2_METADATA_DISABLED=true")
}
