package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/local/clouds/all"
	"github.com/muster-project/muster/local/seed"
	"github.com/muster-project/muster/local/world"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/view"
)

// live seeds a running world, prints how to reach it, and shows its pools until ctx ends or every pool is ready.
func (u *up) live(ctx context.Context, w *world.World, objects []seed.Object) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for _, c := range w.Children() {
		u.starts[c.Name] = c.Starts // restarts until now were told as progress
	}
	go func() { // ends with ctx
		select {
		case <-w.Done():
			cancel(fmt.Errorf("the world ended: %w", w.Err()))
		case <-ctx.Done():
		}
	}()
	scheme, err := view.Scheme()
	if err != nil {
		return err
	}
	c, err := client.New(w.Config(), client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("client of the management cluster: %w", err)
	}
	err = u.sow(ctx, c, objects)
	if ended := u.screen.EndProgress(); ended != nil {
		return ended
	}
	if err != nil {
		return u.end(ctx, err, nil)
	}
	if err := u.greet(w, objects); err != nil {
		return err
	}
	return u.follow(ctx, w)
}

// sow seeds the world, and reports skipped objects. The built-in objects go only into a world that has no others.
func (u *up) sow(ctx context.Context, c client.Client, objects []seed.Object) error {
	record, err := seed.OpenRecord(u.dir)
	if err != nil {
		return err
	}
	if len(u.files) == 0 && record.Foreign() {
		return nil
	}
	u.progress("Applying manifests")
	known := 0
	err = sow(ctx, c, record, u.clouds, objects, func(o seed.Object, applied bool) {
		if !applied {
			known++
			return
		}
		u.promised += seed.TopologyPools(o)
	})
	if err != nil || known == 0 {
		return err
	}
	if err := u.screen.EndProgress(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(u.out, "%d objects were applied when this world was started before, and are left as they are now.\n", known)
	return err
}

// follow shows the pools as they change.
func (u *up) follow(ctx context.Context, w *world.World) (err error) {
	watch, err := view.NewPoolWatch(w.Config(), view.PoolWatchOptions{})
	if err != nil {
		return u.end(ctx, err, nil)
	}
	watching := make(chan error, 1)
	go func() { watching <- watch.Start(ctx) }() // ends with ctx
	tick := time.NewTicker(time.Second)          // a table that can be drawn again shows time passing
	defer tick.Stop()
	keys, restore := u.screen.Keys(ctx, u.in)
	defer func() { err = errors.Join(err, restore()) }()
	for {
		if err := u.noteRestarts(w.Children()); err != nil {
			return err
		}
		pools, err := u.refresh(ctx, watch)
		if err != nil {
			return u.end(ctx, err, nil)
		}
		if u.untilReady && settled(pools, u.promised) {
			return u.summary(pools)
		}
		select {
		case <-watch.Changed():
		case <-tick.C:
		case key := <-keys:
			u.screen.Scroll(key)
		case err := <-watching:
			return u.end(ctx, err, pools)
		case <-ctx.Done():
			return u.end(ctx, ctx.Err(), pools)
		}
	}
}

// refresh shows the pools as they are now, and returns them.
func (u *up) refresh(ctx context.Context, watch *view.PoolWatch) ([]view.Pool, error) {
	rows, err := watch.Pools(ctx)
	if err != nil {
		return nil, err
	}
	pools := make([]view.Pool, 0, len(rows))
	for _, p := range rows {
		pools = append(pools, *p)
	}
	return pools, u.screen.Show(pools, time.Now())
}

// noteRestarts reports processes that were restarted since the last call.
func (u *up) noteRestarts(children []world.Child) error {
	for _, c := range children {
		if c.Starts > u.starts[c.Name] {
			if err := u.screen.Note(time.Now(), c.Restart()); err != nil {
				return err
			}
		}
		u.starts[c.Name] = c.Starts
	}
	return nil
}

// settled reports whether every pool has what it asks for, and there are as many as were promised by Clusters of a class, whose pools
// others make.
func settled(pools []view.Pool, promised int) bool {
	if len(pools) < promised {
		return false
	}
	for _, p := range pools {
		if !p.Settled {
			return false
		}
	}
	return true
}

// end returns the error with which a world ends. A signal is the regular end and yields none; a timeout prints a summary with the reasons.
func (u *up) end(ctx context.Context, err error, pools []view.Pool) error {
	cause := context.Cause(ctx)
	switch {
	case cause == nil:
		return err
	case errors.Is(cause, errTimeout):
		if err := u.summary(pools); err != nil {
			return err
		}
		return fmt.Errorf("not every pool is ready after %v:\n%s", u.timeout, reasons(pools, u.promised))
	case errors.Is(cause, context.Canceled) && u.untilReady:
		return errors.New("interrupted before every pool was ready")
	case errors.Is(cause, context.Canceled):
		_, err := fmt.Fprintln(u.out, "\nStopping the world ...")
		return err
	default:
		return cause
	}
}

// summary prints the table for good.
func (u *up) summary(pools []view.Pool) error {
	if u.screen.Live() {
		return nil // it is there already
	}
	if _, err := fmt.Fprintln(u.out); err != nil {
		return err
	}
	return view.Table(u.out, pools, time.Now(), view.Terminal{})
}

// reasons lists what keeps each pool from being ready, or from being there.
func reasons(pools []view.Pool, promised int) string {
	var text strings.Builder
	switch {
	case len(pools) < promised:
		fmt.Fprintf(&text, "  %d of %d machine pools that Clusters of a class ask for are there: see the condition TopologyReconciled of the "+
			"Cluster\n", len(pools), promised)
	case len(pools) == 0:
		return "  the machine pools could not be read"
	}
	for _, p := range pools {
		if p.Settled {
			continue
		}
		fmt.Fprintf(&text, "  %s\n", p.Line())
		for _, problem := range p.Problems {
			fmt.Fprintf(&text, "    %s\n", problem)
		}
	}
	return strings.TrimRight(text.String(), "\n")
}

// greet prints how to reach the world.
func (u *up) greet(w *world.World, objects []seed.Object) error {
	me := self(os.Args[0])
	var text strings.Builder
	fmt.Fprintf(&text, "The world is up, until Ctrl-C in this terminal. Its logs are in %s.\n\n", quoted(filepath.Join(u.dir, "logs")))
	fmt.Fprintf(&text, "  export KUBECONFIG=%s\n", quoted(w.Kubeconfig()))
	fmt.Fprintf(&text, "  %s kubectl get %s -A\n", me, strings.Join(resources(u.clouds), ","))
	for _, o := range seed.Clusters(objects) {
		fmt.Fprintf(&text, "  %s kubectl --kubeconfig %s get nodes\n", me, quoted(w.ClusterKubeconfig(o[0], o[1])))
	}
	fmt.Fprintf(&text, "  curl %s\n", w.Metrics())
	for _, line := range w.CloudEnvironment() {
		name, value, _ := strings.Cut(line, "=")
		fmt.Fprintf(&text, "  export %s=%s\n", name, quoted(value))
	}
	text.WriteString(simulatorLines(u.clouds, w.Simulator))
	_, err := fmt.Fprintln(u.out, text.String())
	return err
}

// simulatorLines returns the addresses of the faults, calls and state of each simulated cloud.
func simulatorLines(clouds []string, base func(cloud string) string) string {
	var text strings.Builder
	text.WriteString("\nFaults, calls and state of the simulated clouds (docs/simulators.md):\n\n")
	for _, cloud := range clouds {
		fmt.Fprintf(&text, "  %s_SIM=%s\n  curl $%s_SIM%scalls\n", strings.ToUpper(cloud), base(cloud), strings.ToUpper(cloud), sim.AdminPath)
	}
	return text.String()
}

// resources returns the resource names under which kubectl lists the pools of these clouds.
func resources(clouds []string) []string {
	names := []string{"machinepool"}
	for _, c := range all.Named(clouds...) {
		names = append(names, c.Resources...)
	}
	return names
}

// self returns the command by which this program was called. "go run" builds it into a temporary folder whose path no user types.
func self(arg0 string) string {
	if strings.Contains(arg0, string(filepath.Separator)+"go-build") {
		return "go run ./cmd/muster"
	}
	if calledAs(arg0) == pluginName {
		return pluginCommand
	}
	return quoted(arg0)
}

// plain matches words that every shell reads as they stand.
var plain = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// quoted returns a word as it is typed in a POSIX shell: as it stands, or in single quotes.
func quoted(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
