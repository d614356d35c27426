package azure

import (
	"context"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/pool"
)

// desired is the desired state of the scale set, compared with the existing one.
type desired struct {
	// model is the desired model of the scale set, as far as Azure can change the existing one to it; nil if it is unknown. unchangeable
	// names the fields that Azure can't change.
	model        *model.Model
	unchangeable []string
	// imageStays is the reason why the scale set keeps its image; empty if it does not.
	imageStays string
	// against compares it with the pool's existing scale set; nil without a scale set or a model.
	against  *model.Comparison
	template pool.Template
	remember map[string]string
	// capacity is the capacity of each machine; nil if the VM size is unknown.
	capacity *pool.NodeCapacity
}

// desired translates the specification, with the look-ups that this requires. Together with an error it returns the parts that do not
// depend on the failed look-up.
func (r *reader) desired(ctx context.Context) (desired, error) {
	want := desired{remember: r.t.Remembered}
	image, remember, err := r.t.image(ctx, r.lookups, r.now)
	if err != nil {
		return want, err
	}
	want.remember = remember
	size, failed := r.c.SKU(ctx, r.t.pool.Location, r.t.pool.Template.VMSize, r.now)
	if size == nil && failed == nil {
		return want, model.NoSize(r.t.pool, r.t.pool.Location)
	}
	in := model.Input{
		Owner: r.t.Owner, FailureDomains: r.t.FailureDomains, Bootstrap: r.t.Bootstrap,
		Source: r.t.Spec, Image: image, Size: size,
	}
	want.capacity = in.Capacity()
	m, err := model.Build(in)
	if err != nil {
		return want, err
	}
	if size != nil {
		failed = model.Fits(in)
	}
	want.model = m
	if is := r.memory.set.is; is != nil && r.t.owns(is) {
		current := model.Read(*is)
		want.model, want.unchangeable = m.Onto(current)
		want.imageStays = m.ImageStays(current)
		want.against = new(want.model.Against(current))
	}
	if !r.t.Bootstrap.Empty() && cloud.KindOf(failed) != cloud.Invalid {
		want.template = want.model.Template()
		if want.against != nil {
			want.template.Description = strings.Join(want.against.State.Changes, ", ")
		}
	}
	return want, failed
}
