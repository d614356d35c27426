package infrapool_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

type target = cloud.Target[*awsv1.MachinePoolSource]

// account is a cloud in memory. It does at once what it is asked for, but for machines, which run only when boot says so.
type account struct {
	mu     sync.Mutex
	groups map[string]*group
	// templates of each name, oldest first.
	templates map[string][]pool.Template
	// calls are the steps that were begun; looks counts the observations.
	calls []string
	looks int
	// refuse has errors for steps, observe one for observations.
	refuse  map[pool.StepKind]error
	observe error
	// remember holds the values that every observation has looked up.
	remember map[string]string
	// before is called before anything else happens.
	before func(what string, t target)
	next   int
	// versions counts those that were ever made.
	versions int
	// rolls is true if the cloud replaces instances by itself; rolled is its rollout.
	rolls  bool
	rolled *pool.ProviderRollout
	now    func() time.Time
}

type group struct {
	owner     string
	taggedFor string
	// untagged is true if no tag names a cluster.
	untagged  bool
	region    string
	size      int
	surge     int
	min, max  int
	template  string
	instances []pool.Instance
}

func newAccount() *account {
	return &account{groups: map[string]*group{}, templates: map[string][]pool.Template{}, refuse: map[pool.StepKind]error{}}
}

func (a *account) Traits() pool.Traits {
	return pool.Traits{Group: "Auto Scaling group", Template: "launch template", RemoveBatch: 10, CanCancelRollout: true,
		ReplaceKeepsSize: true, ProviderRollout: a.rolls}
}

// wanted is the template that a target asks for; nothing without bootstrap data.
func wanted(t target) pool.Template {
	if t.Bootstrap.Empty() {
		return pool.Template{}
	}
	return pool.Template{Content: "v1:" + t.Spec.Pool.AWSLaunchTemplate.InstanceType + t.KubernetesVersion + t.Bootstrap.Mark(),
		Data: t.Bootstrap.Hash()}
}

func (a *account) Observe(_ context.Context, t target) (pool.Observed, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.before != nil {
		a.before("Observe", t)
	}
	a.looks++
	if a.observe != nil {
		return pool.Observed{}, a.observe
	}
	name := t.Owner.ResourceName()
	o := pool.Observed{Wanted: wanted(t), ResolvedLookups: a.looked(t.Remembered), Versions: slices.Clone(a.templates[name]),
		Cache: pool.CacheStatus{GroupFresh: a.looks == 1},
		Capacity: &pool.NodeCapacity{CPUs: 2, MemoryMiB: 3 << 10, Pods: 29, Devices: map[string]int{"nvidia.com/gpu": 1}, Architecture: "arm64",
			OperatingSystem: "linux"},
	}
	slices.Reverse(o.Versions)
	g := a.groups[name]
	if named := strings.TrimPrefix(t.GroupID, "arn:"); g == nil && a.groups[named] != nil && a.groups[named].owner != t.Owner.ID {
		o.OwnershipConflict = cloud.NamedElsewhere("Auto Scaling group "+named, "its tag is missing")
		return o, nil
	}
	if g == nil || g.region != t.Spec.Cluster.Region {
		return o, nil
	}
	if g.owner != t.Owner.ID {
		o.OwnershipConflict = &pool.Cause{Reason: "Foreign", Message: "Auto Scaling group " + name + " belongs to another owner"}
		o.Unowned = &pool.Unowned{Name: name, Group: "Auto Scaling group " + name, Owner: g.owner, OfCluster: !g.untagged,
			Account: "111122223333", Path: name}
		return o, nil
	}
	o.TaggedFor = g.taggedFor
	o.Group = &pool.Group{ID: "arn:" + name, Size: g.size, Surge: g.surge, Min: g.min, Max: g.max, Template: g.template}
	if g.min != int(t.Spec.Pool.MinSize) || g.max != int(t.Spec.Pool.MaxSize) {
		o.Group.Drift = []string{"sizes"}
	}
	o.Instances = slices.Clone(g.instances)
	o.ProviderRollout = a.rolled
	return o, nil
}

func (a *account) Start(_ context.Context, t target, s pool.Step) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.before != nil {
		a.before(string(s.Kind), t)
	}
	if err := a.refuse[s.Kind]; err != nil {
		return err
	}
	name := t.Owner.ResourceName()
	what := string(s.Kind)
	g := a.groups[name]
	switch s.Kind {
	case pool.PutTemplate:
		version := wanted(t)
		a.versions++
		version.Ref = fmt.Sprintf("lt-1:%d", a.versions)
		a.templates[name] = append(a.templates[name], version)
	case pool.CreateGroup:
		a.groups[name] = &group{owner: t.Owner.ID, region: t.Spec.Cluster.Region, template: s.Template, min: int(t.Spec.Pool.MinSize),
			max: int(t.Spec.Pool.MaxSize)}
		a.resize(name, s.Size)
	case pool.Adopt:
		g.owner = t.Owner.ID
	case pool.UpdateGroup:
		g.min, g.max = int(t.Spec.Pool.MinSize), int(t.Spec.Pool.MaxSize)
		if s.Template != "" {
			g.template = s.Template
		}
	case pool.Resize:
		a.resize(name, s.Size)
		a.groups[name].surge = s.Surge
	case pool.Remove, pool.Replace:
		what = a.end(what, g, s)
		a.resize(name, g.size)
		g.surge = s.Surge
	case pool.StartProviderRollout:
		a.rolled = &pool.ProviderRollout{ID: "r", State: pool.ProviderRolloutRunning, Template: wanted(t), Started: a.now()}
		a.rolled.Template.Ref = s.Template
	case pool.CancelProviderRollout:
		a.rolled.State, a.rolled.Ended = pool.ProviderRolloutCancelled, a.now()
	case pool.PruneTemplates:
		a.templates[name] = slices.DeleteFunc(a.templates[name], func(v pool.Template) bool { return slices.Contains(s.Refs, v.Ref) })
	case pool.DeleteGroup:
		delete(a.groups, name)
	case pool.DeleteTemplates:
		delete(a.templates, name)
	default:
		return fmt.Errorf("no driver starts %s", s.Kind)
	}
	a.calls = append(a.calls, what)
	return nil
}

// end ends the instances of a step.
func (a *account) end(what string, g *group, s pool.Step) string {
	for _, gone := range s.Targets {
		what += " " + gone.ID
		g.instances = slices.DeleteFunc(g.instances, func(i pool.Instance) bool { return i.ID == gone.ID })
		if s.Kind == pool.Remove {
			g.size--
		}
	}
	return what
}

// resize launches or ends machines until there are as many as asked for.
func (a *account) resize(name string, size int) {
	g := a.groups[name]
	g.size = size
	templates := a.templates[name]
	for len(g.instances) < size {
		a.next++
		i := pool.Instance{ID: fmt.Sprintf("i-%d", a.next), Zone: "zone-a", State: pool.Pending,
			Created: a.now().Add(time.Duration(a.next) * time.Millisecond)}
		i.ProviderID = "aws:///zone-a/" + i.ID
		for _, version := range templates {
			if version.Ref == g.template {
				i.Template = version
			}
		}
		g.instances = append(g.instances, i)
	}
}

// boot makes all pending machines run, and gives what runs.
func (a *account) boot() []pool.Instance {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []pool.Instance
	for _, g := range a.groups {
		for i := range g.instances {
			g.instances[i].State = pool.Running
			all = append(all, g.instances[i])
		}
	}
	return all
}

// take gives the calls since the last time.
func (a *account) take() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	calls := a.calls
	a.calls = nil
	return calls
}

// left counts the existing groups and templates.
func (a *account) left() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return fmt.Sprintf("%d groups, %d templates", len(a.groups), len(a.templates))
}

// looked returns the values of earlier look-ups with the current ones on top, as drivers do.
func (a *account) looked(before map[string]string) map[string]string {
	if len(a.remember) == 0 && len(before) == 0 {
		return nil
	}
	all := map[string]string{}
	maps.Copy(all, before)
	maps.Copy(all, a.remember)
	return all
}
