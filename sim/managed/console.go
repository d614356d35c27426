package managed

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
)

// Console makes changes by hand, as a user does in the cloud's console: without a request, a limit or a fault. A change of a pool on which
// an operation runs is refused, as a client's is.
type Console struct {
	// By runs a change of what the service holds now.
	By func(change func(*Service) error) error
	// Tags is the path of the tags in the document of a pool. TagList is true if they are a list of KEY=VALUE, otherwise they are an object.
	Tags    string
	TagList bool
}

// tags returns the tags of the document of a pool.
func (k Console) tags(doc document.Object) map[string]string {
	if !k.TagList {
		return document.Pairs(doc, k.Tags)
	}
	out := map[string]string{}
	for _, tag := range document.Texts(doc, k.Tags) {
		name, value, _ := strings.Cut(tag, "=")
		out[name] = value
	}
	return out
}

// setTag sets a tag in the document of a pool, or removes it for an empty value.
func (k Console) setTag(doc document.Object, tag, value string) {
	if k.TagList {
		list := slices.DeleteFunc(document.Texts(doc, k.Tags), func(one string) bool { return one == tag || strings.HasPrefix(one, tag+"=") })
		if value != "" {
			list = append(list, tag+"="+value)
		}
		document.Place(doc, k.Tags, document.List(list))
		return
	}
	tags := document.Pairs(doc, k.Tags)
	if tags[tag] = value; value == "" {
		delete(tags, tag)
	}
	document.Place(doc, k.Tags, document.OfStrings(tags))
}

// PutCluster creates a cluster by its key, or brings it to another version, where it is not busy. It returns the cluster.
func (k Console) PutCluster(want Cluster) (is Cluster, err error) {
	err = k.By(func(s *Service) error {
		c := s.Clusters.Get(want.Key)
		switch {
		case c == nil:
			c = &want
			s.CreateCluster(c)
		case c.Version != want.Version && s.Busy(c, nil) == nil:
			s.ChangeCluster(c, want.Version)
		}
		c.Server, c.CA, c.Token = want.Server, want.CA, want.Token
		s.Clusters.Touch(c.Key)
		is = *c
		return nil
	})
	return is, err
}

// pool runs a change of the pool of a key.
func (k Console) pool(key string, change func(*Service, *Cluster, *Pool) error) error {
	return k.By(func(s *Service) error {
		p := s.Pools.Get(key)
		if p == nil {
			return fmt.Errorf("there is no pool %s", key)
		}
		c := s.Clusters.Get(p.Cluster)
		if op := s.Busy(c, p); op != nil && (!s.Reconciles || p.State == Upgrading || p.State == Deleting) {
			return fmt.Errorf("operation %s runs, which is %s", op.ID, op.Doing)
		}
		return change(s, c, p)
	})
}

// Create creates a pool of a cluster, which may be about to be created.
func (k Console) Create(cluster, name string, spec Spec) error {
	return k.By(func(s *Service) error {
		c := s.Clusters.Get(cluster)
		if c == nil || s.Pools.Get(cluster+"/"+name) != nil {
			return fmt.Errorf("there is no cluster %s, or it has a pool %s", cluster, name)
		}
		s.CreatePool(c, &Pool{Name: name, Spec: spec})
		return nil
	})
}

// Change changes a pool.
func (k Console) Change(key string, change func(*Spec)) error {
	return k.pool(key, func(s *Service, c *Cluster, p *Pool) error {
		next := p.Spec
		next.Doc = document.Copied(p.Doc)
		change(&next)
		s.ChangePool(c, p, next)
		return nil
	})
}

// Tag sets a tag of a pool, or removes it for an empty value.
func (k Console) Tag(key, tag, value string) error {
	return k.Change(key, func(next *Spec) { k.setTag(next.Doc, tag, value) })
}

// Autoscale moves the count of a pool as the cloud's autoscaler does.
func (k Console) Autoscale(key string, count int) error {
	return k.pool(key, func(s *Service, c *Cluster, p *Pool) error { return s.Autoscale(c, p, count) })
}

// Delete deletes a pool.
func (k Console) Delete(key string) error {
	return k.pool(key, func(s *Service, c *Cluster, p *Pool) error {
		s.DeletePool(c, p)
		return nil
	})
}

// Fail ends the operation that runs on a pool with a failure; a nil one cancels it.
func (k Console) Fail(key string, failure *Failure) error {
	return k.By(func(s *Service) error {
		switch p := s.Pools.Get(key); {
		case p == nil || p.Op == "" || p.State == Deleting:
		case failure == nil:
			s.Cancel(p)
		default:
			s.Finish(p, failure)
		}
		return nil
	})
}

// StopMachine stops a machine of a pool for good.
func (k Console) StopMachine(id string) error {
	return k.By(func(s *Service) error {
		for _, i := range s.Instances.Rows.All() {
			if i.ID == id && !i.Deleting {
				s.Instances.Stop(i)
			}
		}
		return nil
	})
}

// DeleteMachine deletes a machine of a pool, whose count falls.
func (k Console) DeleteMachine(key, id string) error {
	return k.pool(key, func(s *Service, c *Cluster, p *Pool) error {
		for _, i := range s.Instances.Of(key) {
			if i.ID == id && !i.Deleting {
				s.DeleteMachines(c, p, false, i)
			}
		}
		return nil
	})
}

// Actions returns the actions of the console on the pools of a cluster, where the resource names none; another tool creates pools of a
// specification.
func (k Console) Actions(cluster string, spec Spec) sim.OutOfBandActions {
	on := func(do func(key string, on sim.Resource) error) func(sim.Resource) error {
		return func(on sim.Resource) error { return do(cmp.Or(on.Cluster, cluster)+"/"+on.Name, on) }
	}
	change := func(change func(next *Spec, on sim.Resource)) func(sim.Resource) error {
		return on(func(key string, on sim.Resource) error { return k.Change(key, func(next *Spec) { change(next, on) }) })
	}
	return sim.OutOfBandActions{
		sim.CreateGroup: func(on sim.Resource) error { return k.Create(cmp.Or(on.Cluster, cluster), on.Name, spec) },
		sim.DeleteGroup: on(func(key string, _ sim.Resource) error { return k.Delete(key) }),
		sim.SetSize:     change(func(next *Spec, on sim.Resource) { next.Count = on.Size }),
		sim.SetBounds:   change(func(next *Spec, on sim.Resource) { next.Max = on.Size }),
		sim.RemoveTag:   on(func(key string, on sim.Resource) error { return k.Tag(key, on.Key, "") }),
		sim.ChangeTag:   on(func(key string, on sim.Resource) error { return k.Tag(key, on.Key, on.Value) }),
		sim.Autoscale:   on(func(key string, on sim.Resource) error { return k.Autoscale(key, on.Size) }),

		sim.UpgradeGroup: on(func(key string, on sim.Resource) error {
			return k.pool(key, func(s *Service, c *Cluster, p *Pool) error {
				next := p.Spec
				next.Version = cmp.Or(on.Value, c.Version)
				s.ChangePool(c, p, next)
				return nil
			})
		}),
		sim.TerminateInstance: on(func(key string, on sim.Resource) error { return k.DeleteMachine(key, on.Instance) }),
		sim.StopInstance:      func(on sim.Resource) error { return k.StopMachine(on.Instance) },
		sim.CancelRollout:     on(func(key string, _ sim.Resource) error { return k.Fail(key, nil) }),
		sim.FailRollout: on(func(key string, _ sim.Resource) error {
			return k.Fail(key, &Failure{"Internal", "The operation failed by hand."})
		}),

		sim.CreateTemplate: nil, sim.DeleteTemplate: nil, sim.CreateVersion: nil, sim.DeleteVersion: nil, sim.LaunchFrom: nil,
		sim.ResumeProcesses: nil, sim.RemoveHooks: nil, sim.MarkUnhealthy: nil, sim.InterruptInstance: nil, sim.RecommendReplacement: nil,
		sim.MoveToStandby: nil, sim.RebalanceZones: nil, sim.StartRollout: nil, sim.FailInstance: nil, sim.RecreateInstance: nil,
		sim.DetachInstance: nil, sim.StopGroup: nil, sim.StartGroup: nil,
	}
}

// LastOperation returns the operation of a pool that runs, or the one that began last; nil if none is kept.
func LastOperation(s *Service, p *Pool) *Operation {
	var last *Operation
	for _, o := range s.Operations.All() {
		if o.Cluster == p.Cluster && o.Pool == p.Name && (last == nil || o.Running() || !last.Running() && last.Start.Before(o.Start)) {
			last = o
		}
	}
	return last
}
