package oke

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/oci/rest"
	"github.com/muster-project/muster/cloud/oci/session"
)

const (
	// VisibleWithin bounds the time by which a read is behind a write.
	VisibleWithin = 10 * time.Second
	// worksAgain is the time for which a failed read of work requests is not repeated.
	worksAgain = time.Minute
)

// Kind holds what differs between reads of node pools and of virtual node pools. S is a pool in a list, P one that was read by itself.
type Kind[S, P any] struct {
	// List and Touch are the shared list of the pools of a compartment, Get is the request for one pool.
	List  func(c *session.Session, ctx context.Context, compartment string, maxAge time.Duration) (session.List[S], time.Time, error)
	Touch func(c *session.Session, compartment string)
	Get   func(c *session.Session, ctx context.Context, id *string) (*rest.Response[P], error)
	// Listed and Shown return a pool in the form that both have in common, Size returns its size.
	Listed func(S) Listed
	Shown  func(*P) Listed
	Size   func(*P) int
}

// Read is a pool as it was read. N is a node.
type Read[S, P, N any] struct {
	At   time.Time
	Skew time.Duration
	// Pool is nil if it does not exist. It was read by itself at detailAt, with Etag, when the list showed summary.
	Pool     *P
	Etag     *string
	detailAt time.Time
	summary  *S
	Nodes    []N
	// others are the other pools of the cluster, and named the one that the object names. They are not known while Pool is not nil.
	others []Listed
	named  driverkit.NamedGroup
	// Works are the work requests on the pool, the newest first. They are read while it is not at rest.
	Works []Work
}

// Memory holds the last reads of one pool. Losing it costs a few reads.
type Memory[S, P, N any] struct {
	Read Read[S, P, N]
	// created is when OKE accepted the creation of the pool.
	created time.Time
	// Size is the one that was requested last: reads may be behind it.
	Size cache.RequestedSize
	// Works is the last failure of the read of work requests, Reasons are the errors of those that have failed.
	Works   driverkit.Refusal
	Reasons Reasons
}

// Reader reads one pool for one pass.
type Reader[S, P, N any] struct {
	Kind    *Kind[S, P]
	Session *session.Session
	At      Pool
	Now     time.Time
	// MaxAge is that of cloud.Target.
	MaxAge time.Duration
	Memory *Memory[S, P, N]
	// Nodes returns the nodes of a pool that was read by a request which began at a moment.
	Nodes func(ctx context.Context, is *P, at time.Time) ([]N, error)
	// Moving reports whether nodes of the last read come or go.
	Moving func() bool
}

// Forget drops the last read. The OCID of the pool stays known.
func (r Reader[S, P, N]) Forget() {
	r.Touch()
	r.Memory.Read = Read[S, P, N]{Pool: r.Memory.Read.Pool}
}

// Touch marks the shared list as out of date.
func (r Reader[S, P, N]) Touch() { r.Kind.Touch(r.Session, r.At.Compartment()) }

// Read reads the pool unless the last read is new enough for the pass.
func (r Reader[S, P, N]) Read(ctx context.Context) error {
	if driverkit.Reusable(r.Memory.Read.At, r.Now, r.MaxAge) {
		return nil
	}
	return r.Again(ctx, r.MaxAge)
}

// Again reads the pool: by itself where the read must be exact and the pool is known, and by the list elsewhere. A refusal of what does
// not exist looks like a denial: the list tells them apart.
func (r Reader[S, P, N]) Again(ctx context.Context, maxAge time.Duration) error {
	if is := r.Memory.Read.Pool; is != nil && maxAge <= 0 {
		err := r.byID(ctx, r.Kind.Shown(is).ID, nil, r.Session.Now())
		if !session.NotFound(err) && (err != nil || r.Memory.Read.Pool != nil) {
			return err
		}
	}
	return r.byList(ctx, maxAge)
}

// byList finds the pool in the list of its compartment, and reads it where that shows a change.
func (r Reader[S, P, N]) byList(ctx context.Context, maxAge time.Duration) error {
	if r.Memory.Read.Pool == nil && maxAge > 0 {
		maxAge = min(maxAge, driverkit.SearchAge(r.At.search, r.Now))
	}
	list, at, err := r.Kind.List(r.Session, ctx, r.At.Compartment(), maxAge)
	if err != nil {
		return err
	}
	all := make([]Listed, 0, len(list.Items))
	for _, one := range list.Items {
		all = append(all, r.Kind.Listed(one))
	}
	if i := r.At.own(all); i >= 0 {
		switch err := r.found(ctx, &list.Items[i], at, maxAge); {
		case session.NotFound(err) && maxAge != 0:
			return r.Again(ctx, 0) // it may be gone since the list was read
		case err != nil || r.Memory.Read.Pool != nil:
			return err
		}
		all = slices.Delete(all, i, i+1) // the list is behind
	}
	if r.Memory.Read.Pool != nil && maxAge > 0 {
		return r.Again(ctx, 0) // lists can be behind: what was there is read by its OCID
	}
	return r.none(at, r.At.ofCluster(all))
}

// none remembers that there is no such pool among those of its cluster, unless OKE may not show it yet.
func (r Reader[S, P, N]) none(at time.Time, others []Listed) error {
	r.Memory.Read = Read[S, P, N]{}
	if err := driverkit.NotYetShown(r.label(), r.Memory.created, r.Now, VisibleWithin); err != nil {
		return err
	}
	r.Memory.Read = Read[S, P, N]{At: at, others: others, named: r.At.namedIn(others)}
	return nil
}

// found reads a pool that the list has, unless the list shows it as it was when it was read by itself. The list does not show nodes: while
// some come or go, each look reads them.
func (r Reader[S, P, N]) found(ctx context.Context, is *S, at time.Time, maxAge time.Duration) error {
	read, shown := &r.Memory.Read, r.Kind.Listed(*is)
	if maxAge > 0 && read.summary != nil && shown.State == StateActive && r.Kind.Shown(read.Pool).State == StateActive &&
		r.Now.Sub(read.detailAt) < rests(shown.ID) && !r.Moving() && reflect.DeepEqual(is, read.summary) {
		read.At = at
		return nil
	}
	return r.byID(ctx, shown.ID, is, at)
}

// byID reads a pool by itself, with its nodes. One that is shown as deleted does not exist, and one that was renamed is not the pool's any
// more.
func (r Reader[S, P, N]) byID(ctx context.Context, id string, summary *S, at time.Time) error {
	answer, err := r.Kind.Get(r.Session, ctx, &id)
	if err != nil {
		return err
	}
	is := &answer.Body
	shown := r.Kind.Shown(is)
	if shown.State == StateDeleted || shown.Name != r.At.Name {
		r.Memory.Read = Read[S, P, N]{}
		return nil
	}
	read := Read[S, P, N]{At: at, detailAt: r.Now, Pool: is, Etag: answer.Etag, summary: summary, Skew: r.Session.Skew(answer.Headers)}
	if read.Nodes, err = r.Nodes(ctx, is, at); err == nil {
		read.Works, err = r.works(ctx, shown)
	}
	if err != nil {
		return err
	}
	r.Memory.Read, r.Memory.created = read, time.Time{}
	return nil
}

// works reads the work requests on a pool that is not at rest, the newest first. Where that is refused they are not known.
func (r Reader[S, P, N]) works(ctx context.Context, is Listed) (works []Work, err error) {
	if is.State == StateActive || is.State == StateDeleting || is.State == StateCreating {
		r.Memory.Works = driverkit.Refusal{}
		return nil, nil
	}
	err = r.Memory.Works.Tolerate(r.Now, worksAgain, func() error {
		if works, err = r.At.readWorks(ctx, r.Session, is.ID); err == nil {
			r.Memory.Reasons, err = r.At.readReasons(ctx, r.Session, works, r.Memory.Reasons)
		}
		return err
	})
	return works, err
}

// label returns the pool as messages about a step name it.
func (r Reader[S, P, N]) label() string { return r.At.Kind + " " + r.At.Name }
