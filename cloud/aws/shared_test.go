package aws_test

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// some are small pools of one account, each with its group and a machine, as a process that has just started finds them.
func (w *world) some(n int) []aws.Target {
	w.t.Helper()
	var targets []aws.Target
	for k := range n {
		target := aTarget()
		target.Owner.ID, target.Owner.Name = "owner-"+strconv.Itoa(k), "pool-"+strconv.Itoa(k)
		target, _ = w.create(target, 1)
		target.Cache.MaxAge = 15 * time.Second
		targets = append(targets, target)
	}
	w.driver = w.newDriver()
	return targets
}

// looked holds the results of looks at several pools at once.
type looked struct {
	seen []pool.Observed
	errs []error
}

// observeAll looks at several pools at once.
func (w *world) observeAll(targets []aws.Target) looked {
	l := looked{seen: make([]pool.Observed, len(targets)), errs: make([]error, len(targets))}
	var work sync.WaitGroup
	for k, target := range targets {
		work.Go(func() { l.seen[k], l.errs[k] = w.driver.Observe(w.t.Context(), target) })
	}
	work.Wait()
	return l
}

// Pools that are looked at together are read together, and what one of them writes is read anew for it.
func TestPoolsShareReads(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		targets := w.some(4)
		before := w.calls("DescribeAutoScalingGroups")
		for k, o := range w.observeAll(targets).seen {
			if o.Group == nil || len(o.Instances) != 1 || !o.Cache.Shared {
				t.Errorf("pool %d: want its group of one by reads that are shared, got %+v", k, o)
			}
		}
		if n := w.calls("DescribeAutoScalingGroups") - before; n > 2 {
			t.Errorf("want the groups read in at most two calls, got %d", n)
		}
		exact := targets[2]
		exact.Cache.MaxAge = 0
		w.start(exact, pool.Step{Kind: pool.Resize, Size: 3})
		before = w.calls("DescribeAutoScalingGroups")
		if o := w.observe(targets[2]); o.Group.Size != 3 {
			t.Errorf("want the size that the group was asked for, got %d", o.Group.Size)
		}
		if o := w.observe(targets[1]); o.Group.Size != 1 || w.calls("DescribeAutoScalingGroups") != before+1 {
			t.Errorf("want the pool that was written to read anew and no other, got %d calls", w.calls("DescribeAutoScalingGroups")-before)
		}
	})
}

// A page of the shared list that fails makes its pools unknown: none of them is taken for gone.
func TestPageOfTheSweepFails(t *testing.T) {
	for _, action := range []string{"DescribeAutoScalingGroups", "DescribeLaunchTemplates"} {
		t.Run(action, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) { w.failPage(action) })
		})
	}
}

// failPage fails a page of a list that pools share.
func (w *world) failPage(action string) {
	w.t.Helper()
	targets := w.some(4)
	for _, f := range []sim.Fault{{Kind: sim.PageLimit, Action: action, Limit: 1}, {Kind: sim.ErrorBefore, Action: action, Skip: 2}} {
		if err := w.server.Faults().Add(f); err != nil {
			w.t.Fatal(err)
		}
	}
	unknown, known := 0, 0
	l := w.observeAll(targets)
	for k, err := range l.errs {
		switch {
		case err == nil && l.seen[k].Group != nil && len(l.seen[k].Versions) == 1:
			known++
		case err != nil && cloud.KindOf(err) == cloud.Unavailable:
			unknown++
		default:
			w.t.Errorf("pool %d: want its group and template, or the failure of the read, got %+v, %v", k, l.seen[k], err)
		}
	}
	if known == 0 || unknown == 0 {
		w.t.Errorf("want the pools of the page that came and not those of the other, got %d and %d", known, unknown)
	}
}

// TestEditReadsTheGroupAlone holds that a pass that an edit asked for reads the group and not the launch template, which the looks that are
// due read, and that these find what others have changed. Without such looks an edit reads it after two minutes.
func TestEditReadsTheGroupAlone(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target := w.some(1)[0]
		w.observe(target)
		for _, c := range []struct {
			why     string
			after   time.Duration
			byEvent bool
			want    []string
		}{
			{"an edit", 90 * time.Second, true, []string{"DescribeAutoScalingGroups"}},
			{"a look that is due", 20 * time.Second, false, []string{"DescribeAutoScalingGroups", "DescribeLaunchTemplates"}},
			{"an edit after two minutes", 2 * time.Minute, true, []string{"DescribeAutoScalingGroups", "DescribeLaunchTemplates"}},
		} {
			time.Sleep(c.after)
			n := len(w.wire.calls)
			target.Cache.ByEvent = c.byEvent
			w.observe(target)
			if calls := w.wire.since(n); !slices.Equal(calls, c.want) {
				t.Errorf("%s: want %v, got %v", c.why, c.want, calls)
			}
		}
		id, _, _ := strings.Cut(w.observe(target).Latest().Ref, ":")
		if _, err := w.ec2.DeleteLaunchTemplate(t.Context(), &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: &id}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		for _, byEvent := range []bool{true, false} {
			target.Cache.ByEvent = byEvent
			if known := len(w.observe(target).Versions) > 0; known != byEvent {
				t.Errorf("by event %t: want a template that others deleted found by the look that is due, got it known: %t", byEvent, known)
			}
		}
	})
}

// At rest pools read launch templates together, and of what a group's own answer does not show nothing but the hooks, once an hour. A
// template that another client deletes is known at the next look, and it alone is asked for by name.
func TestPoolsAtRestShareTemplates(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		targets := w.some(4)
		w.observeAll(targets)
		for _, c := range []struct {
			why   string
			after time.Duration
			most  map[string]int
		}{
			{"two minutes later", 2 * time.Minute, map[string]int{"DescribeLaunchTemplates": 2}},
			{"half an hour later", 30 * time.Minute, map[string]int{"DescribeLaunchTemplates": 2}},
			{"an hour later", time.Hour, map[string]int{"DescribeLaunchTemplates": 2, "DescribeLifecycleHooks": 4}},
		} {
			time.Sleep(c.after)
			n := len(w.wire.calls)
			w.observeAll(targets)
			counts := map[string]int{}
			for _, call := range w.wire.since(n) {
				counts[call]++
			}
			delete(counts, "DescribeAutoScalingGroups")
			for call, count := range counts {
				if count > c.most[call] {
					t.Errorf("%s: want %s at most %d times, got %d", c.why, call, c.most[call], count)
				}
			}
		}
		id, _, _ := strings.Cut(w.observe(targets[3]).Latest().Ref, ":")
		if _, err := w.ec2.DeleteLaunchTemplate(t.Context(), &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: &id}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		n := len(w.wire.calls)
		for k, o := range w.observeAll(targets).seen {
			if gone := len(o.Versions) == 0; gone != (k == 3) || o.Group == nil {
				t.Errorf("pool %d: want the template of the last pool gone and no other, got %+v", k, o)
			}
		}
		if calls := w.wire.since(n); slices.Contains(calls, "DescribeLaunchTemplateVersions") {
			t.Errorf("want no versions read of templates that have not changed, got %v", calls)
		}
	})
}
