package oke

import (
	"context"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/oci/session"
	"github.com/muster-project/muster/pool"
)

// AllOthers has every entry of a map stay that is not wanted otherwise.
var AllOthers = fields.ServiceOwned{Prefixes: []string{""}}

// Look reads the pool unless it was read.
func (r Reader[S, P, N]) Look(ctx context.Context) error {
	if !r.Memory.Read.At.IsZero() {
		return nil
	}
	return r.Again(ctx, r.MaxAge)
}

// shown returns the pool that was read; one without an OCID if it does not exist.
func (r Reader[S, P, N]) shown() Listed {
	if is := r.Memory.Read.Pool; is != nil {
		return r.Kind.Shown(is)
	}
	return Listed{}
}

// Ownership returns what decides whether the pool may be changed.
func (r Reader[S, P, N]) Ownership() driverkit.Ownership {
	read := r.Memory.Read
	return r.At.ownership(read.Pool != nil, r.shown().Tags, read.others, read.named)
}

// Unowned returns the pool that has the target's name and lacks its owner tag; nil if there is none.
func (r Reader[S, P, N]) Unowned() *pool.Unowned {
	out := r.Ownership().Unowned(r.At.Name)
	if out != nil {
		out.Resources, out.OfCluster = []string{out.Group}, r.At.byProvider(r.shown().Tags)
	}
	return out
}

// Adoption returns the freeform tags of the pool with those of its owner; nil if it has them.
func (r Reader[S, P, N]) Adoption() (map[string]string, error) {
	own := r.Ownership()
	if own.Exists && own.Claim.Owned {
		return nil, nil
	}
	if err := own.Adoptable(r.Unowned()); err != nil {
		return nil, err
	}
	return fields.With(AllOthers, session.Spelling.Tags(r.At.owner), r.shown().Tags), nil
}

// There returns the pool, or a conflict if it does not exist.
func (r Reader[S, P, N]) There() (*P, error) {
	return driverkit.Existing(r.Memory.Read.Pool, r.label())
}

// Exactly reads the pool anew unless it was read right before, and returns a conflict if it does not show the size that was requested last.
func (r Reader[S, P, N]) Exactly(ctx context.Context) (*P, error) {
	if r.Memory.Read.At.Before(r.Now) {
		if err := r.Again(ctx, 0); err != nil {
			return nil, err
		}
	}
	is, err := r.There()
	if err != nil {
		return nil, err
	}
	return is, r.Memory.Size.Check(r.label(), r.Kind.Size(is), r.Now, VisibleWithin)
}

// Exists reports whether there is a pool already, and returns a conflict if that is not the target's. Names need not be unique in OKE: the
// list is read right before a creation, so that there is no second one of the name.
func (r Reader[S, P, N]) Exists(ctx context.Context) (bool, error) {
	if r.Memory.Read.Pool == nil {
		if err := r.Again(ctx, 0); err != nil {
			return false, err
		}
	}
	if r.Memory.Read.Pool == nil {
		return false, nil
	}
	return true, driverkit.Owned(r.Ownership().Conflict())
}

// Create sends a creation with its retry token. Where that shows that an earlier one had its effect, the pool is read.
func (r Reader[S, P, N]) Create(ctx context.Context, body any, send func(token *string) error) error {
	token, err := r.At.retryToken(body, r.Now)
	if err != nil {
		return err
	}
	r.Forget()
	err = send(&token)
	if code := cloud.CodeOf(err); code == session.CodeConflict || code == session.CodeInvalidatedRetryToken {
		return driverkit.Confirm(cloud.AsConflict(err), r.Again(ctx, 0), func() bool {
			is := r.shown()
			return is.ID != "" && r.At.Claim(is.Tags).Owned && is.State != StateDeleting
		})
	}
	if driverkit.MayHaveHappened(err) {
		r.Memory.created = r.Now
	}
	return err
}

// Write sends a change on the condition of the revision that was read. Whatever comes of it, the read is out of date.
func (r Reader[S, P, N]) Write(ctx context.Context, send func(etag *string) error) error {
	etag := r.Memory.Read.Etag
	r.Forget()
	return r.Vanished(ctx, send(etag))
}

// Delete sends the deletion of the pool unless it does not exist or is being deleted.
func (r Reader[S, P, N]) Delete(ctx context.Context, send func(id, etag *string) error) error {
	is := r.shown()
	if is.ID == "" || is.State == StateDeleting {
		return nil
	}
	r.Memory.created = time.Time{}
	return r.Write(ctx, func(etag *string) error { return send(&is.ID, etag) })
}

// Vanished returns the error of a request about what was read before. A refusal of what does not exist looks like a denial: the pool is
// read again, and is gone if the list lacks it.
func (r Reader[S, P, N]) Vanished(ctx context.Context, err error) error {
	if !session.NotFound(err) {
		return err
	}
	if failed := r.Again(ctx, 0); failed != nil {
		return failed
	}
	return driverkit.VanishedAs(err, r.Memory.Read.Pool == nil)
}
