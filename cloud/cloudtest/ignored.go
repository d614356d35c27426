package cloudtest

import (
	"context"
	"path"
	"slices"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// forgotten is longer than a driver keeps anything that others may change.
const forgotten = 90 * time.Minute

// ignored has the cloud accept and ignore, one after the other, everything that clients can set, in each step that sets it.
func ignored[S any](p player[S]) {
	played := 0
	each(p, func(p player[S], e exercise[S]) {
		calls := callsElsewhere(p, e, false)
		for _, f := range p.cloud.Capabilities().Ignorable {
			if e.kind == pool.StartProviderRollout && f.Action != "StartInstanceRefresh" {
				continue
			}
			if slices.ContainsFunc(calls, func(c call) bool { return c.writes && covers(f, c) }) {
				playElsewhere(p, f.Name, func(q player[S]) {
					if ignoredStep(q, e, f) {
						played++
					}
				})
			}
		}
	})
	if played == 0 {
		p.Errorf("want something set that the cloud can ignore, got nothing")
	}
}

// covers reports whether a fault ignores something of a request. What prepares a provider rollout shows in how that goes on.
func covers(f sim.Fault, c call) bool {
	ok, err := path.Match(f.Action, c.action)
	return f.Service == c.service && ok && err == nil
}

// ignoredStep starts a step of which something is ignored, and reports whether the step has to be started again for it.
func ignoredStep[S any](p player[S], e exercise[S], f sim.Fault) bool {
	p.Helper()
	sc, s := p.begin(e)
	p.fault(f)
	if err := p.try(sc.target, s); err != nil {
		p.Errorf("want what the cloud accepts accepted, got %v", err)
	}
	rest(forgotten)
	again := e.due(sc, p.observe(sc.target))
	fresh := e.due(sc, p.again().observe(sc.target))
	if (again == nil) != (fresh == nil) {
		p.Errorf("want a step that had no effect due again for the driver that started it as for one that has seen nothing, got %+v and %+v",
			again, fresh)
	}
	if again != nil {
		if err := p.try(sc.target, *again); err != nil {
			p.Errorf("want the step accepted again, got %v", err)
		}
		p.calm()
		rest(forgotten)
	}
	p.finish(e, sc)
	return again != nil
}

// trusting takes what the cloud has accepted for what the cloud has done.
func trusting[S any](d cloud.Driver[S]) cloud.Driver[S] {
	accepted := map[string]bool{}
	return bent[S]{
		Driver: d,
		see: func(_ context.Context, _ cloud.Target[S], o pool.Observed, err error) (pool.Observed, error) {
			if o.Group != nil {
				o.Group.Drift = slices.DeleteFunc(slices.Clone(o.Group.Drift), func(field string) bool { return accepted[field] })
			}
			return o, err
		},
		do: func(ctx context.Context, t cloud.Target[S], s pool.Step) error {
			err := d.Start(ctx, t, s)
			for _, field := range s.Fields {
				accepted[field] = accepted[field] || err == nil && s.Kind == pool.UpdateGroup
			}
			return err
		},
	}
}
