package compute

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/catalogue"
	"github.com/muster-project/muster/sim/gcp/project"
)

// Console is what a user of Google's console, or another tool, does by hand. Groups are named by their names, instances by their names,
// their IDs or their provider IDs.
type Console struct {
	by func(func(*Service) error) error
}

// NewConsole returns a console that does things through a function which lets nothing else happen meanwhile.
func NewConsole(by func(func(*Service) error) error) Console { return Console{by} }

// onGroup does something to the group of a name.
func (c Console) onGroup(name string, do func(*Service, *manager) error) error {
	return c.by(func(w *Service) error {
		for _, g := range w.managers.All() {
			if g.Name != name {
				continue
			}
			if err := g.ready(); err != nil {
				return err
			}
			err := do(w, g)
			w.changed(g)
			return err
		}
		return fmt.Errorf("managed instance group %s does not exist", name)
	})
}

// onInstance does something to an instance.
func (c Console) onInstance(id string, do func(*Service, *instance) error) error {
	return c.by(func(w *Service) error {
		for _, m := range w.instances.All() {
			if m.Name != id && providerID(m) != id && m.path() != id && (!m.exists() || project.Digits(m.ID) != id) {
				continue
			}
			if err := do(w, m); err != nil {
				return err
			}
			w.life.look(m)
			return nil
		}
		return fmt.Errorf("instance %s does not exist", id)
	})
}

// CreateGroup creates a zonal group without instances and without labels, of a small template of its own.
func (c Console) CreateGroup(on sim.Resource) error {
	return c.by(func(w *Service) error {
		name := on.Name[:min(len(on.Name), maxBase)] + "-tmpl"
		path := project.Global(project.DefaultID, "instanceTemplates", name)
		if w.templates.Get(path) == nil {
			if _, err := w.groups.addTemplate(project.DefaultID, "", Example(name)); err != nil {
				return err
			}
		}
		zone := project.Zones()[len(project.Zones())-4]
		_, err := w.groups.addManager(project.DefaultID, zone, "", document.Object{"name": on.Name, "targetSize": 0, "instanceTemplate": path})
		return err
	})
}

// CreateTemplate creates a small template without labels.
func (c Console) CreateTemplate(on sim.Resource) error {
	return c.by(func(w *Service) error {
		_, err := w.groups.addTemplate(project.DefaultID, "", Example(on.Name))
		return err
	})
}

// Example returns the body of an insert request for a small template.
func Example(name string) document.Object {
	return document.Object{"name": name, "properties": document.Object{
		"machineType": "e2-medium",
		"disks": []any{document.Object{"boot": true, "autoDelete": true, "initializeParams": document.Object{
			"sourceImage": "projects/" + project.DefaultID + "/global/images/family/capi-ubuntu-2404-k8s-v1-33",
		}}},
		"networkInterfaces": []any{document.Object{"network": "global/networks/default"}},
	}}
}

// DeleteGroup deletes a group with its instances.
func (c Console) DeleteGroup(on sim.Resource) error {
	return c.onGroup(on.Name, func(w *Service, g *manager) error {
		w.groups.drop(g, w.byHand(g, "compute.instanceGroupManagers.delete"))
		return nil
	})
}

// DeleteTemplate deletes a template.
func (c Console) DeleteTemplate(on sim.Resource) error {
	return c.by(func(w *Service) error {
		for _, t := range w.templates.All() {
			if t.Name == on.Name {
				return w.groups.dropTemplate(t)
			}
		}
		return fmt.Errorf("instance template %s does not exist", on.Name)
	})
}

// SetSize resizes a group.
func (c Console) SetSize(on sim.Resource) error {
	return c.onGroup(on.Name, func(w *Service, g *manager) error {
		w.scaling.resize(g, on.Size)
		return nil
	})
}

// Autoscale has the autoscaler of a group size it, within the bounds of its policy.
func (c Console) Autoscale(on sim.Resource) error {
	return c.onGroup(on.Name, func(w *Service, g *manager) error {
		a := w.views.autoscalerOf(g)
		if a == nil {
			return fmt.Errorf("managed instance group %s has no autoscaler", g.Name)
		}
		least, _ := document.Number(a.Doc, "autoscalingPolicy.minNumReplicas")
		most, bounded := document.Number(a.Doc, "autoscalingPolicy.maxNumReplicas")
		if !bounded {
			most = maxSize
		}
		w.scaling.resize(g, min(max(on.Size, least), most))
		return nil
	})
}

// RemoveTag removes a label of the group's configuration of all instances, and returns an error if there is none.
func (c Console) RemoveTag(on sim.Resource) error {
	return c.onGroup(on.Name, func(w *Service, g *manager) error {
		labels := maps.Clone(document.Pairs(g.Config, "labels"))
		if _, has := labels[on.Key]; !has {
			return fmt.Errorf("managed instance group %s has no label %s", g.Name, on.Key)
		}
		delete(labels, on.Key)
		g.relabel(labels, w.groups.Now)
		return nil
	})
}

// ChangeTag sets a label of the group's configuration of all instances.
func (c Console) ChangeTag(on sim.Resource) error {
	return c.onGroup(on.Name, func(w *Service, g *manager) error {
		g.relabel(document.Overlaid(document.Pairs(g.Config, "labels"), map[string]string{on.Key: on.Value}), w.groups.Now)
		return nil
	})
}

// relabel sets the labels of the group's configuration of all instances.
func (g *manager) relabel(labels map[string]string, now time.Time) {
	config := document.Copied(g.Config)
	if config == nil {
		config = document.Object{}
	}
	config["labels"] = document.OfStrings(labels)
	g.Config, g.Revision = config, now
}

// Terminate deletes an instance. Its group creates it again.
func (c Console) Terminate(id string) error {
	return c.onInstance(id, func(w *Service, m *instance) error {
		if !m.exists() {
			return fmt.Errorf("instance %s does not exist", id)
		}
		w.life.lose(m)
		return nil
	})
}

// TerminateInstance deletes the instance that on names.
func (c Console) TerminateInstance(on sim.Resource) error { return c.Terminate(on.Instance) }

// Stop stops an instance. Its group repairs it.
func (c Console) Stop(id string) error {
	return c.onInstance(id, func(w *Service, m *instance) error {
		if m.State != stateRunning {
			return fmt.Errorf("instance %s is %s, want it %s", id, m.State, stateRunning)
		}
		w.life.stop(m)
		m.Action = actionNone
		w.touch(m)
		return nil
	})
}

// Preempt takes a spot instance back.
func (c Console) Preempt(id string) error {
	return c.onInstance(id, func(w *Service, m *instance) error {
		if !m.Spot {
			return fmt.Errorf("instance %s is no spot instance", id)
		}
		w.life.preempt(m)
		return nil
	})
}

// InterruptInstance takes the spot instance that on names back.
func (c Console) InterruptInstance(on sim.Resource) error { return c.Preempt(on.Instance) }

// Sicken lets the health check of an instance fail. Its group then replaces it, once its initial delay is over.
func (c Console) Sicken(id string) error {
	return c.onInstance(id, func(w *Service, m *instance) error {
		g := w.groupOf(m)
		if g == nil {
			return fmt.Errorf("instance %s has no group", id)
		}
		if check, _ := g.healthCheck(); check == "" || m.State != stateRunning {
			return fmt.Errorf("instance %s runs no health check", id)
		}
		m.Unhealthy = true
		w.touch(m)
		return nil
	})
}

// RecreateByHand has the group of an instance create it again.
func (c Console) RecreateByHand(id string) error {
	return c.onInstance(id, func(w *Service, m *instance) error {
		w.life.recreate(m, true)
		return nil
	})
}

// AbandonByHand takes an instance out of its group, in which the size falls by one, and lets it run.
func (c Console) AbandonByHand(id string) error {
	return c.onInstance(id, func(w *Service, m *instance) error {
		g := w.groupOf(m)
		if g == nil {
			return fmt.Errorf("instance %s has no group", id)
		}
		w.scaling.abandon(g, m)
		return nil
	})
}

// Scope is a zone or a region such as zones/us-central1-a, and whether requests to it work.
type Scope struct {
	Scope     string
	Reachable bool
}

// SetReachable lets requests to a scope fail, or work again.
func (c Console) SetReachable(s Scope) error {
	if known := scopes(); !slices.Contains(known, s.Scope) {
		return fmt.Errorf("scope %q is none of %q", s.Scope, known)
	}
	return c.by(func(w *Service) error {
		if s.Reachable {
			w.Outages.Delete(s.Scope)
		} else {
			w.Outages.Put(s.Scope, &project.Outage{Scope: s.Scope})
		}
		return nil
	})
}

// scopes returns all zones and regions.
func scopes() []string {
	var out []string
	for _, r := range project.Regions {
		out = append(out, "regions/"+r.Name)
		for _, zone := range r.Zones {
			out = append(out, "zones/"+zone)
		}
	}
	return out
}

// Policy is what is changed of the update policy of a group.
type Policy struct {
	Group  string
	Policy map[string]any
}

// SetPolicy changes the update policy of a group, such as its type to PROACTIVE: it then rolls by itself, without a drain.
func (c Console) SetPolicy(p Policy) error {
	return c.onGroup(p.Group, func(w *Service, g *manager) error {
		return w.groups.patch(g, document.Object{"updatePolicy": p.Policy})
	})
}

// Network is a network with a subnetwork of its name in each region.
type Network struct{ Project, Name string }

// PutNetwork creates a network.
func (c Console) PutNetwork(n Network) error {
	return c.by(func(w *Service) error {
		w.Catalogue.PutNetwork(n.Project, n.Name)
		return nil
	})
}

// Image is an image of a family. Architecture is X86_64 or ARM64.
type Image struct{ Project, Name, Family, Architecture string }

// PutImage creates an image.
func (c Console) PutImage(i Image) error {
	if known := []string{"X86_64", "ARM64"}; i.Architecture != "" && !slices.Contains(known, i.Architecture) {
		return fmt.Errorf("architecture %q is none of %q", i.Architecture, known)
	}
	return c.by(func(w *Service) error {
		w.Catalogue.PutImage(i.Project, i.Name, i.Family, i.Architecture)
		return nil
	})
}

// Quota is how much of a metric such as N2_CPUS or INSTANCES may be used in a region.
type Quota struct {
	Region, Metric string
	Limit          float64
}

// SetQuota sets a quota; one below zero takes it away.
func (c Console) SetQuota(q Quota) error {
	if project.FindRegion(q.Region) == nil {
		return fmt.Errorf("there is no region %q", q.Region)
	}
	return c.by(func(w *Service) error {
		key := q.Region + "/" + q.Metric
		if q.Limit < 0 {
			w.Catalogue.Quotas.Delete(key)
			return nil
		}
		w.Catalogue.Quotas.Put(key, &catalogue.Quota{Limit: q.Limit})
		return nil
	})
}
