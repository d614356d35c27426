package world

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/stored"
	"github.com/muster-project/muster/pool"
	simaws "github.com/muster-project/muster/sim/aws"
)

// The names of what another provider has made for a pool that is to be adopted. A scale set has the name of the object.
const (
	adoptedGroup     = "workers"
	adoptedNodegroup = "default_workers"
	adoptedTemplate  = "workers-template"
)

// adopted draws a pool whose group another provider has made, and when its user asks to adopt the group.
func (d *drawing) adopted() {
	s := &d.s
	if d.IntN(outsideOneIn) > 0 || s.Named || s.Brought || s.Spot || s.Has(HandForeign) {
		return
	}
	s.Adopted = true
	s.add(Event{What: Adopt, At: []time.Duration{0, d.moment(), d.moment()}[d.IntN(3)], N: d.IntN(2)})
}

// adoptName returns the name of the group that the user asks to adopt.
func (s Scenario) adoptName() string {
	switch {
	case s.onAzure():
		return infraKey.Name
	case s.Managed:
		return adoptedNodegroup
	}
	return adoptedGroup
}

// templateName returns the name of the pool's launch template.
func (w *World) templateName() string {
	for _, t := range w.account.snapshot().Templates {
		if t.Owner == w.owner().ID {
			return t.Name
		}
	}
	return w.owner().ResourceName()
}

// makeForAnother makes the pool's group as another provider makes it, with its launch template or its model, and returns its ID as that
// provider writes it to spec.providerID.
func (w *World) makeForAnother() string {
	w.trace.add("event", "another provider makes group %s", w.scenario.adoptName())
	switch {
	case w.scenario.onAzure():
		return w.makeScaleSetForAnother()
	case w.scenario.Managed:
		return w.makeNodegroupForAnother()
	}
	return w.makeAutoScalingGroupForAnother()
}

// adopt has the user ask for the adoption, on the infrastructure object or on the MachinePool.
func (w *World) adopt(e Event) { w.annotate(e.N, pool.AdoptAnnotation, w.scenario.adoptName()) }

// giveUpAdoption has the user remove the request for a group that is gone before the pool could adopt it: no other is created while the
// objects name it.
func (w *World) giveUpAdoption() {
	if !w.scenario.Adopted || w.remembersAdoption() || w.thereToAdopt() {
		return
	}
	w.annotate(0, pool.AdoptAnnotation, "")
	w.annotate(1, pool.AdoptAnnotation, "")
	w.editInfra(func(o *infra) {
		if named, ok := o.Object.(infrapool.Lists); ok {
			named.SetProviderID("")
		}
	})
}

// thereToAdopt reports whether the group that the user asks to adopt exists and is not being deleted.
func (w *World) thereToAdopt() bool {
	for _, g := range w.account.snapshot().Groups {
		if g.Name == w.scenario.adoptName() && !g.Deleting {
			return true
		}
	}
	return false
}

// remembersAdoption reports whether the object remembers that the pool has adopted the group.
func (w *World) remembersAdoption() bool {
	_, o := w.objects(w.user)
	return o != nil && remembered(o)[pool.AdoptedKey] != ""
}

// remembered returns what the object remembers of look-ups.
func remembered(o *infra) map[string]string {
	all := map[string]string{}
	if json.Unmarshal([]byte(o.GetAnnotations()[stored.Annotation]), &all) != nil {
		return nil
	}
	return all
}

// groupNameOf returns the name of the pool's group where it is not the one that follows from the owner ID.
func (w *World) groupNameOf(mp *clusterv1.MachinePool, o *infra) string {
	switch {
	case !w.scenario.Adopted:
		return ""
	case w.scenario.Managed:
		return adoptedNodegroup // which spec.eksNodegroupName says
	}
	return cmp.Or(annotated(mp, o, pool.AdoptAnnotation), remembered(o)[pool.AdoptedKey])
}

// leaveOthersTags takes the tags of another provider out of what is wanted where the object does not name them: they stay.
func (w *World) leaveOthersTags(want map[string]string) {
	if w.scenario.Adopted && want["team"] == "" {
		delete(want, "team")
		delete(want, "behind team")
	}
}

// reshaping are the events after which the object may ask for other machines than those of the group that it adopts, or a user has begun
// to replace them.
var reshaping = []What{
	Template, BadTemplate, Back, GroupEdit, Upgrade, RestartNow, HandDropTemplate, HandDropVersion, HandDefault, HandDropGroup, HandRefresh, HandBreak,
}

// kept reports whether the object still asks for the machines that the group had which it adopts: none of them is replaced then.
func (w *World) kept() bool { return w.scenario.Adopted && !w.reshaped }

// reshapes notes an event before it happens.
func (w *World) reshapes(e Event) { w.reshaped = w.reshaped || slices.Contains(reshaping, e.What) }

// theirData returns the bootstrap data with which another provider has made machines, in base64.
func (w *World) theirData() string {
	return base64.StdEncoding.EncodeToString([]byte(w.scenario.boots(w.workload.last())))
}

// theirTags are the tags of the AWS provider of the ecosystem.
func theirTags(name string) map[string]string {
	return map[string]string{
		"Name": name, "sigs.k8s.io/cluster-api-provider-aws/cluster/" + clusterName: "owned", "sigs.k8s.io/cluster-api-provider-aws/role": "node",
		"kubernetes.io/cluster/" + clusterName: "owned", "team": "a",
	}
}

// privateSubnets are those that the ecosystem's provider puts machines into.
func privateSubnets() []string {
	var ids []string
	for _, s := range simaws.DefaultAccount().Network.Subnets {
		if !s.Public {
			ids = append(ids, s.ID)
		}
	}
	return ids
}
