// Command scale measures a local world with many pools: it starts one in a temporary folder, makes pools of several kinds over several
// clusters, scales some of them, changes some, deletes all, and prints how long that took and what it cost. See docs/scale.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	_ "net/http/pprof" // the profiles of the controllers
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/muster-project/muster/local/children"
	"github.com/muster-project/muster/local/world"
)

// profileEnv holds the address at which the controllers serve profiles.
const profileEnv = "SCALE_PROFILES"

// options are the flags.
type options struct {
	pools, machines, clusters int
	mix                       string
	speed                     float64
	rest, limit, tokens       time.Duration
	kill                      bool
	dir, profiles             string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run is one of the processes of a world, or else what starts it and measures.
func run(ctx context.Context) error {
	if len(os.Args) > 1 {
		for _, p := range children.All() {
			if p.Name != os.Args[1] {
				continue
			}
			if p.Name == world.ControllersChild {
				serveProfiles()
			}
			return p.Run(ctx, os.Args[2:])
		}
	}
	o, err := parse(os.Args[1:])
	if err != nil {
		return err
	}
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	ctrl.SetLogger(klog.Background())
	return measure(ctx, o, os.Stdout)
}

// serveProfiles serves the profiles of this process where the environment names an address.
func serveProfiles() {
	if address := os.Getenv(profileEnv); address != "" {
		go func() {
			server := &http.Server{Addr: address, ReadHeaderTimeout: time.Minute}
			fmt.Fprintln(os.Stderr, "profiles:", server.ListenAndServe())
		}()
	}
}

// parse reads the flags.
func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("scale", flag.ContinueOnError)
	f.IntVar(&o.pools, "n", 100, "number of pools")
	f.IntVar(&o.machines, "machines", 0, "machines of each pool; 0 is one to three")
	f.IntVar(&o.clusters, "clusters", 2, "workload clusters of each kind of pools; node groups have as many more as EKS's quota needs")
	f.StringVar(&o.mix, "mix", "40,10,25,25",
		"hundredths of AWSMachinePools, AWSManagedMachinePools, AzureMachinePools in Uniform and in Flexible mode")
	f.Float64Var(&o.speed, "speed", 0, "how much faster than life machines come, boot and go; 0 is the simulators' default")
	f.DurationVar(&o.rest, "rest", 3*time.Minute, "how long the pools are watched at rest")
	f.DurationVar(&o.limit, "limit", 20*time.Minute, "how long each phase may take")
	f.DurationVar(&o.tokens, "token-ttl", 0, "how long bootstrap tokens are valid; 0 is the bootstrap provider's default")
	f.BoolVar(&o.kill, "kill", false, "after the edits kill the controllers, in the middle of a rotation of bootstrap tokens if one comes, "+
		"instead of scaling, changing and deleting")
	f.StringVar(&o.dir, "dir", "", "folder that keeps the world and its logs; a temporary one that is removed by default")
	f.StringVar(&o.profiles, "profiles", "", "folder for profiles of the controllers at rest; none are made by default")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.pools < 1 || f.NArg() > 0 {
		return o, fmt.Errorf("want at least one pool and no arguments, got %d and %v", o.pools, f.Args())
	}
	return o, nil
}
