package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/muster-project/muster/cmd/muster/screen"
	"github.com/muster-project/muster/local/clouds"
	"github.com/muster-project/muster/local/clouds/all"
	"github.com/muster-project/muster/local/world"
	"github.com/muster-project/muster/manager"
	"github.com/muster-project/muster/sim"
)

// defaultTimeout is the default with --until-ready. A world is ready within half a minute on an idle machine, but can take minutes during a
// build.
const defaultTimeout = 5 * time.Minute

// errTimeout is why a wait ended that --timeout bounds.
var errTimeout = errors.New("timed out")

// up is one run of "muster up".
type up struct {
	dir        string
	port       int
	clouds     []string
	files      []string
	pools      []string
	speed      float64
	untilReady bool
	timeout    time.Duration
	gates      string
	// promised is the number of pools that the topology controller is to create from the seeded objects of this run.
	promised int
	// starts counts the reported starts of each child.
	starts map[string]int

	in     io.Reader
	out    io.Writer
	screen *screen.Screen
}

// upCommand starts a world and shows it until it is stopped.
func upCommand() *cobra.Command {
	u := &up{starts: map[string]int{}}
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start a local world: API servers, simulated clouds and controllers",
		Long: wrapped(fmt.Sprintf("Start a local world and keep it running until Ctrl-C. A world has a management cluster, a workload cluster "+
			"for each Cluster, simulated clouds whose machines boot and join, and Muster's controllers. All clusters have real API servers. "+
			"Without -f, the world is seeded with pools of two machines each, with their clusters: %s.", builtinPools())) + fmt.Sprintf(`

In the manifests of -f, ${NAME}, ${NAME:=default} and ${NAME:-default} are replaced from the environment, as clusterctl does.
Provider variables that the environment does not set (%s ...)
get their values from the simulated accounts. If a pool references a cluster that no manifest contains, the cluster is created.
Each object is applied once in the lifetime of a world: when a world is started again with the same --dir, later changes are kept.

If the table is longer than the terminal, scroll it with the arrow keys, PgUp, PgDn, Home and End.`,
			examples(func(h clouds.Help) string { return h.Variable })),
		Example: fmt.Sprintf(`  muster up
  muster up --dir ~/my-world -f pools.yaml
  muster up --clouds %s
  muster up --pools %s
  muster up --until-ready --timeout 5m`, strings.Join(simulatedClouds, ","), all.Accounts(defaultClouds...).BuiltinPools()[0].Name),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			u.in, u.out = cmd.InOrStdin(), cmd.OutOrStdout()
			return u.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&u.dir, "dir", "",
		"Directory that stores the world between runs. If unspecified, a temporary directory that is removed at the end.")
	f.IntVar(&u.port, "port", 0, "Port on 127.0.0.1 of the management cluster's API server. If unspecified, the port that --dir had before, "+
		"or a free port.")
	f.StringSliceVar(&u.clouds, "clouds", defaultClouds,
		"Clouds to simulate, a list of: "+strings.Join(simulatedClouds, ", ")+"; or "+everyCloud+" for every cloud.")
	f.StringArrayVarP(&u.files, "file", "f", nil,
		"Manifests to apply instead of the built-in pools: a file, a directory, or - for standard input. The flag may be repeated.")
	f.StringSliceVar(&u.pools, "pools", nil,
		"Built-in pools to seed if -f is not set. If unspecified, all built-in pools of the clouds.")
	f.Float64Var(&u.speed, "speed", sim.DefaultSpeed, "Factor by which machines launch, boot and terminate faster than in a real cloud.")
	f.BoolVar(&u.untilReady, "until-ready", false,
		"Exit with code 0 when all replicas of every pool are Ready, or with code 1 and the reasons after --timeout.")
	f.DurationVar(&u.timeout, "timeout", defaultTimeout, "Time that --until-ready waits (duration string).")
	f.StringVar(&u.gates, gatesFlag, "", "Feature gates of the controllers, for example MachinePoolMachines=true. If unspecified, they are "+
		"read from environment variables such as EXP_MACHINE_POOL_MACHINES.")
	return cmd
}

// gatesFlag is the flag that every controller of the ecosystem has for its feature gates.
const gatesFlag = "feature-gates"

// checkGates refuses gates that there are not, as the controllers would. The supervisor itself uses none.
func checkGates(value string) error {
	set := pflag.NewFlagSet(gatesFlag, pflag.ContinueOnError)
	err := manager.AddGatesFlag(set, os.Getenv)
	if err == nil {
		err = set.Set(gatesFlag, value)
	}
	return err
}

// simulatedClouds lists all clouds, and defaultClouds those of a world by default: each workload cluster costs memory.
var (
	simulatedClouds = world.Clouds()
	defaultClouds   = simulatedClouds[:1]
)

// everyCloud is the value of --clouds that selects all of them.
const everyCloud = "all"

// expanded returns the clouds that the values of --clouds name.
func expanded(clouds []string) []string {
	if slices.Equal(clouds, []string{everyCloud}) {
		return slices.Clone(simulatedClouds)
	}
	return clouds
}

// checkClouds refuses a cloud that is not simulated.
func checkClouds(clouds []string) error {
	for _, c := range clouds {
		if !slices.Contains(simulatedClouds, c) {
			return fmt.Errorf("--clouds: %q is not simulated: choose from %s", c, strings.Join(simulatedClouds, ", "))
		}
	}
	if len(clouds) == 0 {
		return fmt.Errorf("--clouds: wanted at least one of %s, found none", strings.Join(simulatedClouds, ", "))
	}
	return nil
}

// check refuses what can't work before anything is started.
func (u *up) check() error {
	if u.speed <= 0 {
		return fmt.Errorf("--speed: wanted a number above 0, found %v", u.speed)
	}
	if u.port < 0 || u.port > 65535 {
		return fmt.Errorf("--port: wanted 0 to 65535, found %d", u.port)
	}
	if u.timeout <= 0 {
		return fmt.Errorf("--timeout: wanted a time above 0, found %v", u.timeout)
	}
	if err := checkGates(u.gates); err != nil {
		return err
	}
	u.clouds = expanded(u.clouds)
	if err := checkClouds(u.clouds); err != nil {
		return err
	}
	var there []string
	for _, p := range all.Accounts(u.clouds...).BuiltinPools() {
		there = append(there, p.Name)
	}
	for _, p := range u.pools {
		if !slices.Contains(there, p) {
			return fmt.Errorf("--pools: %q is not built in on %s: choose from %s", p, strings.Join(u.clouds, ", "), strings.Join(there, ", "))
		}
	}
	if len(u.pools) == 0 {
		u.pools = there
	}
	return nil
}

// run starts the world, seeds it, shows it, and ends it whatever happens.
func (u *up) run(ctx context.Context) (err error) {
	if err := u.check(); err != nil {
		return err
	}
	objects, err := manifests(u.clouds, u.files, u.pools, u.in)
	if err != nil {
		return err
	}
	remove, err := u.folder()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	closeLog, err := logInto(filepath.Join(u.dir, "logs"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeLog()) }()
	u.screen = screen.New(u.out)
	if u.untilReady {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, u.timeout, errTimeout)
		defer cancel()
	}
	w, err := world.Start(ctx, world.Options{Dir: u.dir, Port: u.port, Clouds: u.clouds, Speed: u.speed, FeatureGates: u.gates,
		Page: u.page, Progress: u.progress})
	if err != nil {
		return errors.Join(u.screen.EndProgress(), startFailure(ctx, u.dir, err))
	}
	defer func() { err = errors.Join(err, w.Stop()) }()
	return u.live(ctx, w, objects)
}

// startFailure words why a world did not start: Ctrl-C meanwhile needs no more than that.
func startFailure(ctx context.Context, dir string, err error) error {
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return errors.New("interrupted before the world was up")
	}
	return fmt.Errorf("start the world in %s: %w", quoted(dir), err)
}

// page prints the address of the page, which is the very first line, and begins the progress. A line that cannot be written fails the
// greeting that follows.
func (u *up) page(address string) {
	_, _ = fmt.Fprintf(u.out, "Page: %s\n", address)
	u.progress("Starting a world in " + quoted(u.dir))
}

// progress reports a part of the start. A line that cannot be written fails the greeting that follows.
func (u *up) progress(doing string) { _ = u.screen.Progress(time.Now(), doing) }

// folder makes the world's folder absolute, or a temporary one that the function it gives removes.
func (u *up) folder() (func() error, error) {
	if u.dir != "" {
		dir, err := filepath.Abs(u.dir)
		if err != nil {
			return nil, fmt.Errorf("--dir: %w", err)
		}
		u.dir = dir
		return func() error { return nil }, nil
	}
	dir, err := os.MkdirTemp("", "muster-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	u.dir = dir
	return func() error { return os.RemoveAll(dir) }, nil
}
