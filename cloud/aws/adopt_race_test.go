package aws_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// mortal is the wire of a manager that is killed after so many writes.
type mortal struct {
	next http.RoundTripper
	left int
}

func (m *mortal) RoundTrip(req *http.Request) (*http.Response, error) {
	if isWrite(wire.CallFrom(req.Context())) {
		if m.left == 0 {
			return nil, errors.New("killed")
		}
		m.left--
	}
	return m.next.RoundTrip(req)
}

// adopter is one of two pools that ask for the same group.
type adopter struct {
	target aws.Target
	driver *aws.Driver
	done   bool
}

// restart begins anew with a driver that has seen nothing, and that is killed after so many writes.
func (a *adopter) restart(w *world, writes int) {
	made, err := newDriver(&mortal{next: sim.Transport{Handler: w.server}, left: writes})
	if err != nil {
		w.t.Fatal(err)
	}
	a.driver = made
}

// look observes and decides.
func (a *adopter) look(w *world) pool.Plan {
	w.t.Helper()
	o, err := a.driver.Observe(w.t.Context(), a.target)
	if err != nil {
		w.t.Fatal(err)
	}
	a.target.Remembered = o.ResolvedLookups
	for k, i := range o.Instances {
		o.Instances[k].Node = &pool.Node{Name: i.ID, Ready: true, Joined: i.Created, ReadySince: i.Created}
	}
	d := adoption("pool")
	a.done = a.done || o.Group != nil
	d.Adopt.Done = a.done
	return pool.Decide(d, o, a.driver.Traits(), time.Now())
}

// TestTwoPoolsAdoptOneGroup has two pools adopt a group at the same time, each killed after any number of writes. One of them owns it in
// the end, with everything that belongs to it, and the other changes nothing.
func TestTwoPoolsAdoptOneGroup(t *testing.T) {
	t.Parallel()
	const most = 4
	for n := range most * most {
		t.Run(fmt.Sprintf("killed after %d and %d writes", n/most, n%most), func(t *testing.T) {
			t.Parallel()
			inWorld(t, func(t *testing.T, w *world) {
				arn := w.theirs().group()
				pools := []*adopter{{target: adopting(arn)}, {target: adopting(arn)}}
				pools[1].target.Owner.ID, pools[1].target.Owner.Name = "other-id", "other"
				for k, a := range pools {
					a.restart(w, []int{n / most, n % most}[k])
				}
				first, second := pools[0].look(w), pools[1].look(w)
				for k, plan := range []pool.Plan{first, second} {
					if plan.Step == nil || plan.Step.Kind != pool.Adopt {
						t.Fatalf("want both to begin, got %+v", plan)
					}
					_ = pools[k].driver.Start(t.Context(), pools[k].target, *plan.Step)
				}
				for range 12 {
					settle()
					for _, a := range pools {
						a.restart(w, most*most)
						if plan := a.look(w); plan.Step != nil {
							if err := a.driver.Start(t.Context(), a.target, *plan.Step); err != nil && cloud.KindOf(err) != cloud.Conflict {
								t.Fatal(err)
							}
						}
					}
				}
				w.ownedByOne(pools)
			})
		})
	}
}

// ownedByOne checks that group, template and instances have one owner, and that the other pool rests.
func (w *world) ownedByOne(pools []*adopter) {
	w.t.Helper()
	group, owners := w.groupByHand("pool"), map[string]string{}
	for _, tag := range group.Tags {
		if *tag.Key == "muster.dev/owner" {
			owners["group"] = *tag.Value
		}
	}
	templates, err := w.ec2.DescribeLaunchTemplates(w.t.Context(), &ec2.DescribeLaunchTemplatesInput{})
	if err != nil || len(templates.LaunchTemplates) != 1 {
		w.t.Fatalf("want one template, got %+v, %v", templates, err)
	}
	for _, tag := range templates.LaunchTemplates[0].Tags {
		if *tag.Key == "muster.dev/owner" {
			owners["template"] = *tag.Value
		}
	}
	instances, err := w.ec2.DescribeInstances(w.t.Context(), &ec2.DescribeInstancesInput{InstanceIds: ids(group)})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range instances.Reservations {
		for _, i := range r.Instances {
			owners[*i.InstanceId] = ""
			for _, tag := range i.Tags {
				if *tag.Key == "muster.dev/owner" {
					owners[*i.InstanceId] = *tag.Value
				}
			}
		}
	}
	for what, owner := range owners {
		if owner == "" || owner != owners["group"] {
			w.t.Errorf("want all of one owner, got %s: %q in %v", what, owner, owners)
		}
	}
	for _, a := range pools {
		plan := a.look(w)
		if plan.Step != nil || (plan.Refused == nil) != (a.target.Owner.ID == owners["group"]) {
			w.t.Errorf("want the owner at rest and the other refused, got %s: %+v", a.target.Owner.ID, plan)
		}
	}
}
