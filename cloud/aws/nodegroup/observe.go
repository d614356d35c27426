package nodegroup

import (
	"cmp"
	"context"

	"github.com/muster-project/muster/pool"
)

// observe reads what is out of date, and returns the observation that follows from it.
func (r *reader) observe(ctx context.Context) (pool.Observed, error) {
	s, err := r.read(ctx)
	if err != nil {
		return pool.Observed{}, err
	}
	return s.observed()
}

// read reads all that an observation shows, each part as far as it is out of date. Of a pool whose node group or launch template has
// another owner it reads only what can be deleted with the pool.
func (r *reader) read(ctx context.Context) (*state, error) {
	if err := r.groups(ctx); err != nil {
		return nil, err
	}
	s := r.state()
	err := r.readTemplate(ctx, s)
	switch {
	case err != nil:
		return s, err
	case s.conflict() != nil:
		s.needs, err = s.role.Observe(ctx)
		return s, err
	}
	s.failed = cmp.Or(r.lookUp(ctx, s), s.orphan())
	if err = r.readPrerequisites(ctx, s); err != nil || s.is == nil {
		return s, err
	}
	return s, r.machines(ctx, s)
}
