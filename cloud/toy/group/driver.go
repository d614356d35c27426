// Package group is the driver of groups of machines of the toy cloud. Muster replaces the machines: the cloud brings a group to its size,
// deletes the machines that a request names, and does nothing else. docs/adding-a-cloud.md goes through it.
//
// Templates never change: another specification is another template, under a name that follows from what is in it. Three lists serve all
// groups of an account: their machines, the groups, the templates.
package group

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/toy/session"
	"github.com/muster-project/muster/pool"
)

// Driver runs groups of machines of the toy cloud, whose machines Muster replaces.
type Driver = driverkit.Driver[*Spec, *writer, memory]

// Spec is the specification of a group of machines. What it leaves out has the cloud's default.
type Spec struct {
	MachineType string            `json:"machineType"`
	Image       string            `json:"image,omitempty"`
	Zones       []string          `json:"zones,omitempty"`
	Tags        map[string]string `json:"tags,omitempty"`
}

// kind describes groups: they keep their size, launch what they lack, and leave machines that stopped to their clients.
var kind = driverkit.Kind[*writer]{
	Group: "a group",
	Traits: pool.Traits{Group: "group", Template: "template", RemoveBatch: removeBatch, ReplaceKeepsSize: true, KeepsFailedInstances: true,
		CanDeleteBusyGroup: true},
	Observe: (*writer).observe, Look: (*writer).look, Steps: steps,
	Ownership: func(w *writer) driverkit.Ownership { return w.t.ownership(w.memory.read) },
	AnyOwner:  []pool.StepKind{pool.Adopt, pool.DeleteTemplates},
	Explain: func(_ *writer, err error) error {
		return driverkit.WithField(err, func(_ *cloud.Error, member string) string { return rows.SpecOf(member) })
	},
	Touch: func(w *writer) { w.c.sweep.Touch(allGroups) }, Forget: (*writer).forget,
}

// removeBatch is the most machines that one removal names, visibleWithin bounds the time by which a read is behind a write.
const removeBatch, visibleWithin = 100, 10 * time.Second

// stateDeleting is the state of a group that is being deleted.
const stateDeleting = "deleting"

// New makes a driver. It sends nothing.
func New(o session.Options) *Driver {
	c, lookups := newGroups(session.New(o)), &cache.Lookups{}
	return driverkit.Over(kind, func(_ context.Context, t Target, from *driverkit.Memories[memory]) (*writer, error) {
		if t.Spec == nil {
			return nil, cloud.Invalidf("spec", "there is no specification to go by")
		}
		target, now := target{Target: t, name: t.Owner.ResourceName()}, c.Now()
		return &writer{reader{c: c, t: target, now: now, memory: from.Of(now, c.Endpoint, target.name), lookups: lookups}}, nil
	}, c.Close)
}

// Target is one pool as the driver gets it.
type Target = cloud.Target[*Spec]

// target is Target with the name of its group.
type target struct {
	cloud.Target[*Spec]
	name string
}

// path returns the path of the group in requests.
func (t target) path() string { return "/v1/groups/" + url.PathEscape(t.name) }

// idPrefix begins the ID of a group in the form of spec.providerID.
const idPrefix = "toy:///groups/"

// namedGroup returns the name of the group that the object names; empty if that is the pool's own.
func (t target) namedGroup() string {
	name, ok := strings.CutPrefix(t.GroupID, idPrefix)
	if !ok || name == t.name {
		return ""
	}
	return name
}

// ownership returns what decides whether the group may be changed.
func (t target) ownership(read groupRead) driverkit.Ownership {
	o := driverkit.Ownership{Exists: read.is != nil, Named: read.named, GroupID: t.GroupID, Former: t.former(read), Kind: "group",
		Group: "group " + t.name, Rename: "by the annotation muster.dev/group-name", Path: t.name}
	if read.is != nil {
		o.Claim, o.Account = t.Claim(session.Spelling, read.is.tag), read.is.Account
	}
	return o
}

// former returns what keeps the group from being created: a group of another name that could be the target's.
func (t target) former(read groupRead) driverkit.FormerGroup {
	var found []driverkit.Candidate
	for _, g := range read.groups {
		if t.Search.Tagged && read.is == nil {
			found = append(found, driverkit.Candidate{Name: g.Name, Group: "group " + g.Name, Claim: t.Claim(session.Spelling, g.tag),
				Deleting: g.State == stateDeleting})
		}
	}
	return driverkit.Former(t.Owner, found, cloud.Owner.ResourceName)
}
