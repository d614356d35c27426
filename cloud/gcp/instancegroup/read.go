package instancegroup

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/cloud/gcp/template"
	"github.com/muster-project/muster/pool"
)

// pass is one call of Observe or Start for one pool.
type pass struct {
	c       *session.Session
	t       target
	now     time.Time
	memory  *memory
	lookups *cache.Lookups
}

// place finds out where the group is, as far as that is known without a read.
func (p *pass) place() {
	known, ok := p.t.knownPlace()
	if !ok {
		known = p.t.wantedPlace()
	}
	p.t.place = known
}

// read reads the group and its instances, unless the last read is new enough for the pass.
func (p *pass) read(ctx context.Context) error {
	if driverkit.Reusable(p.memory.group.at, p.now, p.t.MaxAge) {
		p.found()
		return nil
	}
	return p.readAgain(ctx)
}

// known reads the group, unless it was read.
func (p *pass) known(ctx context.Context) error {
	if !p.memory.group.at.IsZero() {
		p.found()
		return nil
	}
	return p.readAgain(ctx)
}

// found takes over where the group was found, or where a new one is made.
func (p *pass) found() {
	p.t.place = p.t.wantedPlace()
	if is := p.memory.group.is; is != nil {
		p.t.place = placeOf(is)
	}
}

func (p *pass) readAgain(ctx context.Context) error {
	p.memory.denied = nil
	read, err := p.readWhole(ctx)
	if read.is != nil && session.Absent(err) {
		// The group was deleted between the two reads.
		p.memory.touch()
		p.t.MaxAge = 0
		read, err = p.readWhole(ctx)
	}
	switch {
	case err != nil && read.is != nil:
		return session.Vanished(err)
	case err != nil:
		return err
	}
	if read.is == nil {
		if read.named, err = p.readNamed(ctx); err != nil {
			return err
		}
		if err := driverkit.NotYetShown("managed instance group "+p.t.group, p.memory.made, p.now, visibleWithin); err != nil {
			p.memory.group = groupRead{}
			return err
		}
		p.memory.group = read
		return p.beingCreated(ctx)
	}
	p.memory.group, p.memory.made = read, time.Time{}
	return p.memory.behind(p.now, p.t.group)
}

// readWhole reads the group, and the instances of one that is the pool's own.
func (p *pass) readWhole(ctx context.Context) (groupRead, error) {
	read, err := p.readGroup(ctx)
	if err == nil && read.is != nil && p.t.owns(labelsOf(read.is)) {
		read.instances, err = p.instances(ctx, read)
	}
	return read, err
}

// readGroup reads the group where it is known to be, and else where a new one would be made.
func (p *pass) readGroup(ctx context.Context) (groupRead, error) {
	places := []place{p.t.place}
	if wanted := p.t.wantedPlace(); wanted.location != p.t.place.location {
		places = append(places, wanted)
	}
	var read groupRead
	for _, at := range places {
		p.t.place = at
		is, when, err := p.c.Manager(ctx, at.location, p.t.group, p.t.MaxAge)
		if err != nil {
			return groupRead{}, err
		}
		if read = (groupRead{is: is.Is, at: when, skew: is.Skew}); is.Is != nil {
			p.t.place = placeOf(is.Is)
			break
		}
	}
	return read, nil
}

// placeOf returns where a group is.
func placeOf(is *compute.InstanceGroupManager) place {
	if is.Zone != "" {
		return place{location: session.LastName(is.Zone)}
	}
	out := place{location: session.LastName(is.Region)}
	if is.DistributionPolicy != nil {
		for _, z := range is.DistributionPolicy.Zones {
			out.zones = append(out.zones, session.LastName(z.Zone))
		}
	}
	return out
}

// readNamed reads the group that the object names, where that is another than the pool's own, which does not exist: another tool may have
// managed the pool before.
func (p *pass) readNamed(ctx context.Context) (driverkit.NamedGroup, error) {
	out := driverkit.NamedGroup{ID: p.t.GroupID}
	named, other := p.t.namedGroup()
	if !other {
		return p.readEcosystems(ctx, out)
	}
	label := "managed instance group " + named.Name + " of " + named.Location()
	if named.Project != "" && named.Project != p.t.project {
		out.Conflict = cloud.NamedElsewhere(label, "it is in project "+named.Project)
		return out, nil
	}
	is, _, err := p.c.Manager(ctx, named.Location(), named.Name, p.t.MaxAge)
	if err != nil {
		return out, err
	}
	if is.Is != nil && !p.t.owns(labelsOf(is.Is)) {
		out.Conflict = driverkit.NamedConflict(label, named.Name, template.LabelOwner, labelsOf(is.Is)[template.LabelOwner])
	}
	return out, nil
}

// readEcosystems reads the group that the ecosystem's provider makes for the object, which no field of it names: another beside it would
// have as many machines again. Once there was none, and the place of the pool's own is remembered, it is not looked for again.
func (p *pass) readEcosystems(ctx context.Context, out driverkit.NamedGroup) (driverkit.NamedGroup, error) {
	at, name := p.t.wantedPlace(), p.t.cluster.ClusterName+"-"+p.t.Owner.Name
	if p.t.GroupID != "" || p.t.Owner.GroupName != "" || p.t.Remembered[keepLocation] != "" || p.t.Deleting || !at.zonal() {
		return out, nil
	}
	is, _, err := p.c.Manager(ctx, at.location, name, p.t.MaxAge)
	if err != nil || is.Is == nil || labelsOf(is.Is)[template.LabelOwner] != "" {
		return out, err
	}
	out.Conflict = &pool.Cause{Reason: cloud.ReasonOwnershipConflict,
		Message: fmt.Sprintf("managed instance group %s of %s has the name that "+
			"cluster-api-provider-gcp gives this pool's, and lacks its label %s. It is left alone, and no other is created. %s. "+
			"To have another created, name it by the annotation muster.dev/group-name", name, at.location, template.LabelOwner,
			pool.AdoptionHint(name))}
	return out, nil
}
