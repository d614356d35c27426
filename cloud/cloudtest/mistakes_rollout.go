package cloudtest

import (
	"context"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// of limits the mistake to a kind of step.
func (m mistake[S]) of(kind pool.StepKind) mistake[S] {
	m.about = kind
	return m
}

// within limits the mistake to an exercise.
func (m mistake[S]) within(name string) mistake[S] {
	m.in = name
	return m
}

// based marks a mistake that is about the version before a new one.
func (m mistake[S]) based() mistake[S] {
	m.onBase = true
	return m
}

// instead bends one kind of step.
func instead[S any](name, guard string, kind pool.StepKind, bend func(pool.Observed, *pool.Step) (skip bool)) mistake[S] {
	return doing(name, guard, func(ctx context.Context, d cloud.Driver[S], t cloud.Target[S], s pool.Step) error {
		if s.Kind != kind {
			return d.Start(ctx, t, s)
		}
		o, err := d.Observe(ctx, t)
		if err != nil {
			return err
		}
		if bend(o, &s) {
			return nil
		}
		return d.Start(ctx, t, s)
	}).of(kind)
}

// skipped leaves a step undone and reports that it is done.
func skipped(pool.Observed, *pool.Step) bool { return true }

// eachInstance bends how instances are seen.
func eachInstance[S any](name, guard string, kind pool.StepKind, bend func(*pool.Instance)) mistake[S] {
	return seeing(name, guard, func(_ cloud.Target[S], o *pool.Observed) {
		for k := range o.Instances {
			bend(&o.Instances[k])
		}
	}).of(kind)
}

// theRoll bends how a roll is seen.
func theRoll[S any](name, guard string, bend func(*pool.ProviderRollout)) mistake[S] {
	return seeing(name, guard, func(_ cloud.Target[S], o *pool.Observed) {
		if o.ProviderRollout != nil {
			roll := *o.ProviderRollout
			bend(&roll)
			o.ProviderRollout = &roll
		}
	}).of(pool.StartProviderRollout)
}

// rollouts are mistakes of the steps by which instances are replaced, and of how their progress is seen.
func rollouts[S any]() []mistake[S] {
	return []mistake[S]{
		instead[S]("replaces nothing", caseTwice, pool.Replace, skipped),
		instead[S]("lowers the size with a replacement", caseTwice, pool.Replace, func(_ pool.Observed, s *pool.Step) bool {
			s.Kind = pool.Remove
			return false
		}),
		instead[S]("replaces some other too", caseTwice, pool.Replace, func(o pool.Observed, s *pool.Step) bool {
			for _, i := range alive(o.Instances) {
				if len(s.Targets) == 1 && i.ID != s.Targets[0].ID {
					s.Targets = append(s.Targets, pool.InstanceRef{ID: i.ID})
				}
			}
			return false
		}),
		instead[S]("stops what it sets aside", caseTwice, pool.EnterStandby, func(_ pool.Observed, s *pool.Step) bool {
			s.Kind = pool.Replace
			return false
		}),
		eachInstance[S]("forgets whom it has set aside", caseTwice, pool.EnterStandby, func(i *pool.Instance) { i.Standby = false }),
		instead[S]("releases nothing", caseTwice, pool.Release, skipped),
		instead[S]("holds no longer than the cloud does by itself", caseHeld, pool.Renew, skipped),
		eachInstance[S]("takes what is held for gone", caseHeld, pool.Release, func(i *pool.Instance) { i.LifecycleHook = nil }),
		eachInstance[S]("forgets since when it is held", caseHeld, pool.Release, func(i *pool.Instance) {
			if i.LifecycleHook != nil {
				hold := *i.LifecycleHook
				hold.Since = time.Now()
				i.LifecycleHook = &hold
			}
		}),
		eachInstance[S]("does not say why the cloud takes an instance", caseTaken, pool.Release,
			func(i *pool.Instance) { i.TerminationNotice = nil }),
		instead[S]("rolls whatever is of another version", caseTwice, pool.StartProviderRollout, func(_ pool.Observed, s *pool.Step) bool {
			s.Targets = nil
			return false
		}).within(nameSomeRoll),
		instead[S]("spares in a restart what is of the wanted template", caseTwice, pool.StartProviderRollout,
			func(_ pool.Observed, s *pool.Step) bool {
				s.ReplaceMatching = false
				return false
			}).within(nameRestart),
		theRoll[S]("takes a roll that was cancelled for one that has failed", caseTwice, func(r *pool.ProviderRollout) {
			if r.State == pool.ProviderRolloutCancelled {
				r.Failures++
			}
		}).of(pool.CancelProviderRollout),
		theRoll[S]("does not know what a roll makes", caseTwice, func(r *pool.ProviderRollout) { r.Template = pool.Template{} }),
		instead[S]("cancels nothing", caseTwice, pool.CancelProviderRollout, skipped),
		theRoll[S]("takes its own roll for another client's", caseUnjoined, func(r *pool.ProviderRollout) { r.ByOthers = true }),
		instead[S]("cancels whatever runs", caseOtherRoll, pool.CancelProviderRollout, func(o pool.Observed, s *pool.Step) bool {
			if o.ProviderRollout != nil {
				s.Refs = []string{o.ProviderRollout.ID}
			}
			return false
		}),
	}
}
