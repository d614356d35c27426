package children

import (
	"context"
	"net"

	"github.com/spf13/pflag"

	"github.com/muster-project/muster/local/world"
)

// simulatedClouds is the child "clouds": the simulated clouds and the machines in them. It returns when it fails, when ctx
// ends, or when standard input ends.
func simulatedClouds(ctx context.Context, args []string) error {
	f := pflag.NewFlagSet(world.CloudsChild, pflag.ContinueOnError)
	dir := f.String("dir", "", "directory of the world")
	names := f.StringSlice("clouds", world.Clouds(), "clouds to simulate")
	ports := f.StringToInt(world.CloudPortFlag, nil, "port of a simulated cloud, as NAME=PORT; may be repeated")
	speed := f.Float64("speed", 0, "how much faster than life machines come, boot and go")
	if err := f.Parse(args); err != nil {
		return err
	}
	d := world.Dir(*dir)
	return world.RunChild(ctx, world.CloudsChild, d, func(ctx context.Context) error {
		listen := func(cloud string) (net.Listener, error) { return net.Listen("tcp", world.Loopback((*ports)[cloud])) }
		return world.Simulate(ctx, world.Simulated{Dir: d.Path("sim"), Clouds: *names, Speed: *speed, Listen: listen})
	})
}
