package infrapool_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/pool"
)

const (
	// tokenTTL and tokenLook are the values of Cluster API's own bootstrap provider: it looks every third of the TTL, replaces a token when
	// half of its time is over, and extends it instead while machines are still joining.
	tokenTTL  = 15 * time.Minute
	tokenLook = tokenTTL / 3
)

// life is a pool with a bootstrap provider that rotates tokens, in virtual time.
type life struct {
	*world
	random *rand.Rand
	// secret is the name of the data that the provider keeps, token the ID that is in it, of all tokens by the hash of their data.
	secret string
	token  string
	of     map[string]string
	made   int
	looks  time.Time
	// muster and provider say who runs.
	muster, provider bool
	next             time.Time
	log              []string
}

// newLife is a pool whose machines have joined.
func newLife(t *testing.T, seed uint64, rolls bool) *life {
	t.Helper()
	l := &life{world: newWorld(t, append(everything(), bootData("other", "x"))...), random: rand.New(rand.NewPCG(seed, 1)), secret: "data",
		of: map[string]string{}, muster: true, provider: true}
	l.account.rolls = rolls
	l.restart()
	l.rotate()
	l.settled()
	l.join()
	l.settle()
	l.next = l.now
	return l
}

// rotate makes a new token and puts it into the data.
func (l *life) rotate() {
	l.made++
	l.token = fmt.Sprintf("t%05d", l.made)
	if err := l.workload.Create(l.t.Context(), token(l.token, l.now.Add(tokenTTL))); err != nil {
		l.t.Fatal(err)
	}
	text := []byte("#cloud-config\ntoken: " + l.token + ".0123456789abcdef")
	l.of[cloud.NewBootstrap(text, "").Hash()] = l.token
	change(l.world, bootData(l.secret, ""), func(s *corev1.Secret) { s.Data["value"] = text })
}

// ends is when a token runs out; false when it is gone.
func (l *life) ends(id string) (time.Time, bool) {
	s := token(id, time.Time{})
	err := l.workload.Get(l.t.Context(), client.ObjectKeyFromObject(s), s)
	if apierrors.IsNotFound(err) {
		return time.Time{}, false
	}
	at, wrong := time.Parse(time.RFC3339, string(s.Data["expiration"]))
	if err != nil || wrong != nil {
		l.t.Fatal(err, wrong)
	}
	return at, true
}

// provide is a look of the bootstrap provider at its token.
func (l *life) provide() {
	l.looks = l.now.Add(tokenLook)
	at, there := l.ends(l.token)
	switch {
	case !there, l.joined() && at.Before(l.now.Add(tokenTTL/2)):
		l.rotate()
	case !l.joined() && at.Before(l.now.Add(tokenTTL*5/6)):
		s := token(l.token, l.now.Add(tokenTTL))
		if err := l.workload.Update(l.t.Context(), s); err != nil {
			l.t.Fatal(err)
		}
	}
}

// instances of the group.
func (l *life) instances() []pool.Instance {
	for _, g := range l.account.groups {
		return g.instances
	}
	return nil
}

func (l *life) joined() bool {
	return !slices.ContainsFunc(l.instances(), func(i pool.Instance) bool { return i.State == pool.Pending })
}

// clean deletes expired tokens, as the control plane does.
func (l *life) clean() {
	for _, id := range l.of {
		if at, there := l.ends(id); there && !at.After(l.now) {
			if err := l.workload.Delete(l.t.Context(), token(id, at)); err != nil {
				l.t.Fatal(err)
			}
		}
	}
}

// run lets time pass for the controllers that run, and finds templates at every moment that machines may be launched from and could not
// join with.
func (l *life) run(d time.Duration, check bool) {
	for end := l.now.Add(d); l.now.Before(end); {
		to := end
		if l.muster && l.next.Before(to) {
			to = l.next
		}
		if l.provider && l.looks.Before(to) {
			to = l.looks
		}
		if to.After(l.now) {
			l.now = to
		}
		if check {
			l.sound()
		}
		l.clean()
		if l.provider && !l.looks.After(l.now) {
			l.provide()
		}
		if l.muster && !l.next.After(l.now) {
			l.pass()
			l.next = l.now.Add(max(l.again, time.Second))
			if l.again == 0 {
				l.next = l.now.Add(10 * time.Minute) // as the resync of a manager
			}
		}
	}
}

// sound fails when a machine may be launched that can't join.
func (l *life) sound() {
	l.t.Helper()
	launches := map[string]string{}
	for name, g := range l.account.groups {
		for _, v := range l.account.templates[name] {
			if v.Ref == g.template {
				launches[v.Data] = "the group launches from " + v.Ref
			}
		}
		for _, i := range g.instances {
			if i.State == pool.Pending && l.now.Sub(i.Created) < pool.DefaultJoinDeadline {
				launches[i.Template.Data] = i.ID + " is about to join with " + i.Template.Ref
			}
		}
	}
	if roll := l.account.rolled; roll.Runs() {
		launches[roll.Template.Data] = "a roll launches from " + roll.Template.Ref
	}
	for data, why := range launches {
		if at, there := l.ends(l.of[data]); !there || !at.After(l.now) {
			l.t.Fatalf("at %s %s, whose token %s ran out at %s (there: %t)\n%s\n%s", l.now.Sub(start), why, l.of[data], at.Sub(start), there,
				strings.Join(l.log, "\n"),
				l.get().Annotations["muster.dev/resolved"])
		}
	}
}

// lifeEvents are the events of a life, by name. Each lasts for a while, and ends.
var lifeEvents = map[string]func(l *life, d time.Duration){
	"quiet":   func(l *life, d time.Duration) { l.run(d, true) },
	"restart": func(l *life, _ time.Duration) { l.restart(); l.next = l.now },
	"sizes": func(l *life, d time.Duration) {
		change(l.world, machinePool(), func(mp *clusterv1.MachinePool) { mp.Spec.Replicas = new(int32(l.random.IntN(5))) })
		l.next = l.now
		l.run(d/4, true)
		for name, g := range l.account.groups {
			g.instances = g.instances[:min(len(g.instances), g.size)]
			l.account.resize(name, g.size)
		}
	},
	"machines join": func(l *life, _ time.Duration) { l.join(); l.sound() },
	"the cloud replaces a machine": func(l *life, _ time.Duration) {
		for name, g := range l.account.groups {
			g.instances = g.instances[min(1, len(g.instances)):]
			l.account.resize(name, g.size)
		}
	},
	"another instance type": func(l *life, d time.Duration) {
		change(l.world, awsMachinePool(), func(o *awsv1.AWSMachinePool) {
			o.Spec.AWSLaunchTemplate.InstanceType = fmt.Sprintf("m%d.large", l.random.IntN(9))
		})
		l.next = l.now
		l.run(d, true)
	},
	"the group can't be changed": func(l *life, d time.Duration) {
		l.account.refuse[pool.UpdateGroup] = &cloud.Error{Kind: cloud.Denied, Code: "AccessDenied", Message: "no"}
		l.run(d, true)
		clear(l.account.refuse)
	},
	"templates can't be made": func(l *life, d time.Duration) {
		l.account.refuse[pool.PutTemplate] = &cloud.Error{Kind: cloud.Denied, Code: "AccessDenied", Message: "no"}
		l.run(d, true)
		clear(l.account.refuse)
	},
	"the cloud does not answer": func(l *life, d time.Duration) {
		l.account.observe = &cloud.Error{Kind: cloud.Unavailable, Code: "x", Message: "no"}
		l.run(d, true)
		l.account.observe = nil
	},
	"the object is paused": func(l *life, d time.Duration) {
		paused := func(value map[string]string) {
			change(l.world, awsMachinePool(), func(o *awsv1.AWSMachinePool) {
				delete(o.Annotations, clusterv1.PausedAnnotation)
				for k, v := range value {
					o.Annotations[k] = v
				}
			})
			l.next = l.now
		}
		paused(map[string]string{clusterv1.PausedAnnotation: ""})
		l.run(d, true)
		paused(nil)
	},
	"the cluster is paused": func(l *life, d time.Duration) {
		change(l.world, cluster(), func(c *clusterv1.Cluster) { c.Spec.Paused = new(true) })
		l.provider, l.next = false, l.now
		l.run(d, true)
		change(l.world, cluster(), func(c *clusterv1.Cluster) { c.Spec.Paused = nil })
		l.provider, l.next = true, l.now
	},
	"the provider rests": func(l *life, d time.Duration) { l.provider = false; l.run(d, true); l.provider = true },
	"muster rests for a moment": func(l *life, _ time.Duration) { // as when another replica takes over
		l.muster = false
		l.run(90*time.Second, true)
		l.muster, l.next = true, l.now
		l.run(time.Second, true)
	},
	"nothing runs": func(l *life, d time.Duration) {
		l.muster, l.provider = false, false
		l.run(d, false)
		l.muster, l.provider = true, true
		l.restart()
		l.provide()
		l.passes(8) // a step a pass
		l.next = l.now
		for k := range l.instances() { // what could not join meanwhile is the join deadline's matter
			l.instances()[k].State = pool.Running
		}
		l.sound()
	},
	"another configuration": func(l *life, d time.Duration) {
		l.secret = map[string]string{"data": "other", "other": "data"}[l.secret]
		l.rotate()
		change(l.world, machinePool(), uses(l.secret))
		l.next = l.now
		l.run(d, true)
	},
}

// TestNoTemplateHasATokenThatRanOut: whatever becomes of a pool, its machines can join at every moment of its life while the
// controllers run, and a few passes after they were away for longer than a token lasts.
func TestNoTemplateHasATokenThatRanOut(t *testing.T) {
	t.Parallel()
	var names []string
	for name := range lifeEvents {
		names = append(names, name)
	}
	slices.Sort(names)
	seeds := uint64(4)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			l := newLife(t, seed, seed%2 == 1)
			for range 20 {
				name := names[l.random.IntN(len(names))]
				d := time.Duration(1+l.random.IntN(60)) * time.Minute
				l.log = append(l.log, fmt.Sprintf("%s %s for %s", l.now.Sub(start), name, d))
				lifeEvents[name](l, d)
			}
			change(l.world, machinePool(), func(mp *clusterv1.MachinePool) { mp.Spec.Replicas = new(int32(0)) })
			l.next = l.now
			l.run(time.Hour, true)
		})
	}
}
