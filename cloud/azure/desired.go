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
	// model is what the scale set should be, as far as Azure can make that of what is there; nil when it can't be told. unchangeable
	// names the fields in which it can't.
	model        *model.Model
	unchangeable []string
	// against compares it with the pool's scale set that exists; nil when there is none, or no model.
	against  *model.Comparison
	template pool.Template
	remember map[string]string
	// capacity is what each machine offers; nil where the size is not known.
	capacity *pool.NodeCapacity
}

// want translates the specification, with whatever look-ups that takes. What does not depend on a look-up that failed is there even
// so.
func (p *pass) want(ctx context.Context) (wanted, error) {
	w := wanted{remember: p.t.Remembered}
	image, remember, err := p.image(ctx)
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
	if is := p.memory.set.is; is != nil && p.ours(is) {
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
