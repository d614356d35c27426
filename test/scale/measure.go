package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/local/ports"
	"github.com/muster-project/muster/local/world"
)

const (
	// share is one of how many pools is scaled and changed, more is by how many machines.
	share, more = 5, 2
	// edits is the number of pools that are edited one after another to measure the response time.
	edits = 20
	// settle is the time for reads that follow a change, before calls at rest are counted. pause separates other phases.
	settle, pause = time.Minute, 15 * time.Second
	// profiled is the duration of the CPU profile.
	profiled = 30 * time.Second
)

// bench measures a world.
type bench struct {
	options
	world    *world.World
	client   client.Client
	watch    *watch
	calls    *calls
	profiler string
	ports    ports.Set // the profiler's, until the process ends
	out      io.Writer
	pools    []*poolSpec
	phases   []phase
}

// phase is a part of the pools' life.
type phase struct {
	name  string
	pools int
	// took holds the time of each pool in ascending order. late lists those that took too long, lost those that lost Ready without a request.
	took       []time.Duration
	late, lost []string
	lasted     time.Duration
	calls      counts
	processes  []usage
}

// measure starts a world, measures and ends it.
func measure(ctx context.Context, o options, out io.Writer) (err error) {
	pools, err := o.fleet()
	if err != nil {
		return err
	}
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "muster-scale-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(o.dir)) }()
	}
	b := &bench{options: o, out: out, pools: pools}
	if err := b.profileAt(); err != nil {
		return err
	}
	b.say("starting a world in %s", o.dir)
	if b.world, err = world.Start(ctx, world.Options{Dir: o.dir, Speed: o.speed, TokenTTL: o.tokens}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.world.Stop()) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // ends with ctx
		select {
		case <-b.world.Done():
			b.say("the world ended: %v", b.world.Err())
			cancel()
		case <-ctx.Done():
		}
	}()
	if err := b.prepare(ctx); err != nil {
		return err
	}
	life := b.live
	if o.kill {
		life = b.crash
	}
	err = life(ctx)
	b.table()
	return err
}

// profileAt chooses the address at which the controllers serve profiles.
func (b *bench) profileAt() error {
	if b.profiles == "" {
		return nil
	}
	port, err := b.ports.Pick(b.dir)
	if err != nil {
		return err
	}
	b.profiler = fmt.Sprintf("127.0.0.1:%d", port)
	return errors.Join(os.Setenv(profileEnv, b.profiler), os.MkdirAll(b.profiles, 0o755))
}

// prepare makes clients and clusters.
func (b *bench) prepare(ctx context.Context) (err error) {
	config := rest.CopyConfig(b.world.Config())
	config.QPS = -1 // the number of requests at a time is the limit
	if b.client, err = client.New(config, client.Options{}); err != nil {
		return err
	}
	b.calls = &calls{at: map[string]string{}}
	for _, cloud := range world.Clouds() {
		b.calls.at[cloud] = b.world.Simulator(cloud)
	}
	if b.watch, err = newWatch(ctx, config); err != nil {
		return err
	}
	names, err := createClusters(ctx, b.client, b.pools)
	if err != nil {
		return err
	}
	b.say("%d pools in %d clusters", len(b.pools), len(names))
	for end := time.Now().Add(b.limit); ; {
		if b.clustersUp(names) {
			return sleep(ctx, pause)
		}
		if time.Now().After(end) {
			return fmt.Errorf("the clusters are not up after %s", b.limit)
		}
		if err := sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

// clustersUp reports whether all workload clusters have an API server.
func (b *bench) clustersUp(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		_, err := os.Stat(b.world.ClusterKubeconfig(namespace, name))
		return err != nil
	})
}

// live creates the pools, lets them rest, edits a few one by one, scales and changes some of them, and deletes all.
func (b *bench) live(ctx context.Context) error {
	some := b.some()
	steps := []func() error{
		func() error { return b.create(ctx) },
		func() error { return b.idle(ctx) },
		func() error { return b.edit(ctx) },
		func() error { return b.resize(ctx, "scale up", some, more) },
		func() error { return b.resize(ctx, "scale down", some, -more) },
		func() error { return b.roll(ctx, some) },
		func() error { return b.remove(ctx, b.pools) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
	return nil
}

// some returns one of so many pools, of all kinds.
func (b *bench) some() (some []*poolSpec) {
	for n, p := range b.pools {
		if n%share == 0 {
			some = append(some, p)
		}
	}
	return some
}

// during applies do to pools and waits until all of them meet the condition.
func (b *bench) during(ctx context.Context, name string, pools []*poolSpec, do func(context.Context, *poolSpec) error,
	waits func(*poolSpec, poolState) bool) error {
	by := map[string]*poolSpec{}
	for _, p := range pools {
		by[p.name] = p
	}
	b.say("%s: %d pools", name, len(pools))
	before := b.usage()
	if err := b.calls.reset(ctx); err != nil {
		return err
	}
	b.watch.expect(pools, func(name string, s poolState) bool { return waits(by[name], s) })
	began := time.Now()
	if err := each(ctx, pools, do); err != nil {
		return err
	}
	b.say("%s: all asked for after %s", name, time.Since(began).Round(time.Second/10))
	took, late := b.watch.wait(ctx, b.limit,
		func(left int) { b.say("%s: %d pools left after %s", name, left, time.Since(began).Round(time.Second)) })
	for n, why := range late {
		if n < 10 {
			b.say("%s: LATE %s", name, why)
		}
	}
	return b.note(ctx, phase{name: name, pools: len(pools), took: took, late: late, lasted: time.Since(began)}, before)
}

// note adds a phase that has just ended.
func (b *bench) note(ctx context.Context, p phase, before []usage) (err error) {
	p.calls, err = b.calls.read(ctx)
	p.processes = since(b.usage(), before)
	b.phases = append(b.phases, p)
	b.say("%s: %s, %d late; load %s", p.name, p.lasted.Round(time.Second/10), len(p.late), load())
	return errors.Join(err, ctx.Err())
}

func (b *bench) create(ctx context.Context) error {
	return b.during(ctx, "create", b.pools,
		func(ctx context.Context, p *poolSpec) error { return p.createPool(ctx, b.client) },
		func(p *poolSpec, s poolState) bool { return s.has(p.replicas) })
}

// idle lets the pools rest and counts what they cost.
func (b *bench) idle(ctx context.Context) error {
	if err := sleep(ctx, settle); err != nil {
		return err
	}
	before, began := b.usage(), time.Now()
	if err := b.calls.reset(ctx); err != nil {
		return err
	}
	b.watch.lost()
	b.say("rest: %s", b.rest)
	if err := sleep(ctx, b.rest); err != nil {
		return err
	}
	if err := b.note(ctx, phase{name: "rest", pools: len(b.pools), lasted: time.Since(began), lost: b.watch.lost()}, before); err != nil {
		return err
	}
	return b.profile(ctx)
}

// edit scales pools of an idle world up, and measures how long each edit takes to the first write to the cloud. The next one is edited once
// the machine of the one before has joined: a world in which machines boot is not idle.
func (b *bench) edit(ctx context.Context) error {
	if err := b.calls.reset(ctx); err != nil {
		return err
	}
	pools := b.pools[:min(edits, len(b.pools))]
	before, began := b.usage(), time.Now()
	b.say("edit: %d pools, one after another", len(pools))
	p := phase{name: "first write", pools: len(pools)}
	for _, edited := range pools {
		b.watch.expect([]*poolSpec{edited}, func(_ string, s poolState) bool { return s.has(edited.replicas) })
		requested := time.Now()
		if err := edited.scale(ctx, b.client, edited.replicas+1); err != nil {
			return err
		}
		first, ok := b.wrote(ctx, requested, edited.name)[edited.name]
		if !ok {
			p.late = append(p.late, edited.name)
			continue
		}
		p.took = append(p.took, first.At.Sub(requested))
		_, late := b.watch.wait(ctx, b.limit, func(int) {})
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(late) > 0 {
			return fmt.Errorf("an edit of %s brought no machine within %s", edited.name, b.limit)
		}
	}
	slices.Sort(p.took)
	p.lasted = time.Since(began)
	if err := errors.Join(b.note(ctx, p, before), sleep(ctx, pause)); err != nil {
		return err
	}
	return b.resize(ctx, "undo", pools, -1)
}

func (b *bench) resize(ctx context.Context, name string, pools []*poolSpec, by int) error {
	return b.during(ctx, name, pools,
		func(ctx context.Context, p *poolSpec) error { return p.scale(ctx, b.client, p.replicas+by) },
		func(p *poolSpec, s poolState) bool { return s.has(p.replicas) })
}

// roll gives pools machines of another size, and waits until all machines are others.
func (b *bench) roll(ctx context.Context, pools []*poolSpec) error {
	old := map[string][]string{}
	for _, p := range pools {
		old[p.name] = b.watch.of(p.name).listed
	}
	return b.during(ctx, "change", pools,
		func(ctx context.Context, p *poolSpec) error { return p.change(ctx, b.client) },
		func(p *poolSpec, s poolState) bool {
			return s.has(p.replicas) && !slices.ContainsFunc(s.listed, func(id string) bool { return slices.Contains(old[p.name], id) })
		})
}

func (b *bench) remove(ctx context.Context, pools []*poolSpec) error {
	return b.during(ctx, "delete", pools,
		func(ctx context.Context, p *poolSpec) error { return p.remove(ctx, b.client) },
		func(_ *poolSpec, s poolState) bool { return !s.core && !s.infra })
}

// profile writes the profiles of the controllers to the folder that the options name.
func (b *bench) profile(ctx context.Context) error {
	if b.profiles == "" {
		return nil
	}
	for name, path := range map[string]string{
		"cpu.pprof": fmt.Sprintf("profile?seconds=%d", int(profiled.Seconds())), "heap.pprof": "heap?gc=1", "goroutines.txt": "goroutine?debug=1",
	} {
		text, err := get(ctx, http.MethodGet, "http://"+b.profiler+"/debug/pprof/"+path)
		if err == nil {
			err = os.WriteFile(filepath.Join(b.profiles, name), text, 0o600)
		}
		if err != nil {
			return fmt.Errorf("profile: %w", err)
		}
	}
	return nil
}

// say prints a message with the time.
func (b *bench) say(format string, args ...any) {
	_, _ = fmt.Fprintf(b.out, time.Now().Format(time.TimeOnly)+" "+format+"\n", args...)
}

// sleep waits, or returns why it was not to.
func sleep(ctx context.Context, long time.Duration) error {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
