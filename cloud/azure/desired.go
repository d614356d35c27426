package azure

import (
	"context"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/pool"
)

// wanted is what the specification asks for now.
type wanted struct {
	// model is what the scale set should be, as far as Azure can change the existing one to that; nil when it is unknown. unchangeable
	// names the fields that Azure can't change.
	model        *model.Model
	unchangeable []string
	// against compares it with the pool's existing scale set; nil without a scale set or a model.
	against  *model.Comparison
	template pool.Template
	remember map[string]string
	// capacity is what each machine offers; nil where the VM size is unknown.
	capacity *pool.NodeCapacity
}

// want translates the specification, with the look-ups that this needs. Beside an error it returns what does not depend on the failed
// look-up.
func (p *pass) want(ctx context.Context) (wanted, error) {
	w := wanted{remember: p.t.Remembered}
	image, remember, err := p.t.image(ctx, p.lookups, p.now)
	if err != nil {
		return w, err
	}
	w.remember = remember
	size, failed := p.c.SKU(ctx, p.t.pool.Location, p.t.pool.Template.VMSize, p.now)
	if size == nil && failed == nil {
		return w, model.NoSize(p.t.pool, p.t.pool.Location)
	}
	in := model.Input{
		Owner: p.t.Owner, FailureDomains: p.t.FailureDomains, Bootstrap: p.t.Bootstrap,
		Source: p.t.Spec, Image: image, Size: size,
	}
	w.capacity = in.Capacity()
	m, err := model.Build(in)
	if err != nil {
		return w, err
	}
	if size != nil {
		failed = model.Fits(in)
	}
	w.model = m
	if is := p.memory.set.is; is != nil && p.t.owns(is) {
		current := model.Read(*is)
		w.model, w.unchangeable = m.Onto(current)
		w.against = new(w.model.Against(current))
	}
	if !p.t.Bootstrap.Empty() && cloud.KindOf(failed) != cloud.Invalid {
		w.template = w.model.Template()
		if w.against != nil {
			w.template.Description = strings.Join(w.against.State.Changes, ", ")
		}
	}
	return w, failed
}
