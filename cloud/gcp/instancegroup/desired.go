package instancegroup

import (
	"context"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/gcp/machinetype"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/cloud/gcp/template"
	"github.com/muster-project/muster/pool"
)

// wanted is what the specification asks for now.
type wanted struct {
	template template.Template
	labels   map[string]string
	remember map[string]string
	// capacity is what each machine offers; nil where it is unknown.
	capacity *pool.NodeCapacity
	// unknown is why it is.
	unknown error
}

// translation translates the specification of a pass.
type translation struct{ *pass }

// source is what the template is made of, without the image.
func (t target) source() template.Source {
	return template.Source{Owner: t.Owner, Pool: t.pool, Cluster: t.cluster, Project: t.project, Group: t.group, Bootstrap: t.Bootstrap}
}

// want translates the specification, with the look-ups that this needs. Beside an error it returns what does not depend on the failed
// look-up.
func (p translation) want(ctx context.Context) (wanted, error) {
	look := p.resolver()
	if adopted, ok := p.t.Remembered[cloud.AdoptedTemplate]; ok {
		look.Remember[cloud.AdoptedTemplate] = adopted
	}
	source := p.t.source()
	w := wanted{labels: source.Labels(), remember: look.Remember}
	var err error
	if source.Image, source.Family, err = p.image(ctx, look); err == nil {
		w.capacity, w.unknown = p.capacity(ctx, look)
		// Of a group that exists only that there is no such machine type matters. Without the permission to look the type up a group is created
		// all the same: what its machines offer stays unknown.
		if p.memory.group.is == nil && cloud.KindOf(w.unknown) != cloud.Denied || cloud.KindOf(w.unknown) == cloud.Invalid {
			err = w.unknown
		}
	}
	if err == nil {
		w.template, err = source.Build()
	}
	if err != nil || w.unknown != nil {
		look.Keep()
	}
	return w, err
}

// resolver looks up what the specification names only by its properties.
func (p translation) resolver() *cache.Resolver {
	return &cache.Resolver{
		Place: p.t.project + "/" + p.t.cluster.Region, Shared: p.lookups, Now: p.now, Remembered: p.t.Remembered,
		Remember: map[string]string{keepLocation: p.t.place.location},
	}
}

// wantTemplate translates the specification as far as the template goes: without what its machines offer, which no template needs.
func (p translation) wantTemplate(ctx context.Context) (w wanted, err error) {
	source := p.t.source()
	if source.Image, source.Family, err = p.image(ctx, p.resolver()); err == nil {
		w.template, err = source.Build()
	}
	return w, err
}

// image returns the path of the image that machines boot. The newest image of a family is found once for each specification.
func (p translation) image(ctx context.Context, look *cache.Resolver) (image, family string, err error) {
	is, err := template.ImageOf(p.t.pool, p.t.KubernetesVersion, p.t.project)
	if err != nil || is.Family == "" {
		return is.Path, "", err
	}
	image, err = look.Resolve(ctx, cache.Question{
		Kind: "image", Inputs: []string{is.Family, p.t.KubernetesVersion},
		Good: func(answer string) bool { return session.ParseResource(answer).Name != "" },
		Ask: func(ctx context.Context) (string, error) {
			project, name := template.SplitFamily(is.Family)
			found, err := p.c.Compute.Images.GetFromFamily(project, name).Context(ctx).Do()
			if err = p.c.Refusal(err); session.Absent(err) {
				return "", cloud.Invalidf(is.Field, "there is no image of the family %s", is.Family)
			}
			if err != nil {
				return "", cloud.InField(err, is.Field)
			}
			return session.ParseResource(found.SelfLink).In(project).Path(), nil
		},
	})
	return image, is.Family, err
}

// podsMost is how many pods a kubelet takes unless it is configured otherwise.
const podsMost = 110

// capacity returns what each machine offers, nil where no zone is known to ask about its type.
func (p translation) capacity(ctx context.Context, look *cache.Resolver) (*pool.NodeCapacity, error) {
	zone := p.zoneToAsk()
	if zone == "" {
		return nil, nil
	}
	is, err := machinetype.Of(ctx, p.c, look, zone, p.t.pool.InstanceType)
	if err != nil {
		return nil, err
	}
	accelerators := map[string]int{}
	for _, a := range p.t.pool.GuestAccelerators {
		accelerators[session.LastName(a.Type)] += int(a.Count)
	}
	return is.Offers(podsMost, accelerators), nil
}

// zoneToAsk is a zone of the group, empty if none is known.
func (p translation) zoneToAsk() string {
	switch {
	case p.t.place.zonal():
		return p.t.place.location
	case len(p.t.place.zones) > 0:
		return p.t.place.zones[0]
	}
	return ""
}
