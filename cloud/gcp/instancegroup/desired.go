package instancegroup

import (
	"context"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/cloud/gcp/template"
	"github.com/muster-project/muster/pool"
)

// wanted is the group that the specification asks for now.
type wanted struct {
	template template.Template
	labels   map[string]string
	remember map[string]string
	// capacity is the capacity of each machine; nil if it is unknown.
	capacity *pool.NodeCapacity
	// unknown is why it is.
	unknown error
}

// translator translates the specification into what is wanted, with the look-ups that this needs.
type translator struct{ *groupReader }

// source returns the source of the template, without the image.
func (t target) source() template.Source {
	return template.Source{Owner: t.Owner, Pool: t.pool, Cluster: t.cluster, Project: t.project, Group: t.group, Bootstrap: t.Bootstrap}
}

// want translates the specification, with the look-ups that this needs. Beside an error it returns what does not depend on the failed
// look-up.
func (r translator) want(ctx context.Context) (wanted, error) {
	look := r.resolver()
	if adopted, ok := r.t.Remembered[cloud.AdoptedTemplate]; ok {
		look.Remember[cloud.AdoptedTemplate] = adopted
	}
	source := r.t.source()
	want := wanted{labels: source.Labels(), remember: look.Remember}
	var err error
	if source.Image, source.Family, err = r.image(ctx, look); err == nil {
		want.capacity, want.unknown = r.capacity(ctx, look)
		// Of a group that exists only that there is no such machine type matters. Without the permission to look the type up a group is created
		// all the same: what its machines offer stays unknown.
		if r.memory.group.is == nil && cloud.KindOf(want.unknown) != cloud.Denied || cloud.KindOf(want.unknown) == cloud.Invalid {
			err = want.unknown
		}
	}
	if err == nil {
		want.template, err = source.Build()
	}
	if err != nil || want.unknown != nil {
		look.Keep()
	}
	return want, err
}

// resolver looks up what the specification names only by its properties.
func (r translator) resolver() *cache.Resolver {
	return &cache.Resolver{
		Place: r.t.project + "/" + r.t.cluster.Region, Shared: r.lookups, Now: r.now, Remembered: r.t.Remembered,
		Remember: map[string]string{keepLocation: r.t.place.location},
	}
}

// wantTemplate translates the specification as far as the template goes: without what its machines offer, which no template needs.
func (r translator) wantTemplate(ctx context.Context) (want wanted, err error) {
	source := r.t.source()
	if source.Image, source.Family, err = r.image(ctx, r.resolver()); err == nil {
		want.template, err = source.Build()
	}
	return want, err
}

// image returns the path of the image that machines boot. The newest image of a family is found once for each specification.
func (r translator) image(ctx context.Context, look *cache.Resolver) (image, family string, err error) {
	is, err := template.ImageOf(r.t.pool, r.t.KubernetesVersion, r.t.project)
	if err != nil || is.Family == "" {
		return is.Path, "", err
	}
	image, err = look.Resolve(ctx, cache.Question{
		Kind: "image", Inputs: []string{is.Family, r.t.KubernetesVersion},
		Good: func(answer string) bool { return session.ParseResource(answer).Name != "" },
		Ask: func(ctx context.Context) (string, error) {
			project, name := template.SplitFamily(is.Family)
			found, err := r.c.Compute.Images.GetFromFamily(project, name).Context(ctx).Do()
			if err = r.c.Refusal(err); session.Absent(err) {
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

// podsMost is the default maximum number of pods of a kubelet.
const podsMost = 110

// capacity returns what each machine offers, nil where no zone is known to ask about its type.
func (r translator) capacity(ctx context.Context, look *cache.Resolver) (*pool.NodeCapacity, error) {
	zone := r.zoneToAsk()
	if zone == "" {
		return nil, nil
	}
	is, err := template.MachineTypeOf(ctx, r.c, look, zone, r.t.pool.InstanceType)
	if err != nil {
		return nil, err
	}
	accelerators := map[string]int{}
	for _, a := range r.t.pool.GuestAccelerators {
		accelerators[session.LastName(a.Type)] += int(a.Count)
	}
	return is.Offers(podsMost, accelerators), nil
}

// zoneToAsk is a zone of the group, empty if none is known.
func (r translator) zoneToAsk() string {
	switch {
	case r.t.place.zonal():
		return r.t.place.location
	case len(r.t.place.zones) > 0:
		return r.t.place.zones[0]
	}
	return ""
}
