package workrequests

import (
	"slices"
	"time"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/oci/rest"
)

// How long work requests last, as in the real cloud.
const (
	lifeAccept = 2 * time.Second
	kept       = 24 * time.Hour
)

// mostErrors bounds the errors that a work request keeps.
const mostErrors = 100

// Status is the status of a work request that has started.
type Status string

// The statuses. A work request is shown as ACCEPTED first.
const (
	InProgress Status = "IN_PROGRESS"
	Failed     Status = "FAILED"
	Succeeded  Status = "SUCCEEDED"
	Canceled   Status = "CANCELED"
)

// Work is a work request.
type Work struct {
	ID, Compartment string
	// Type is the type of the operation, Resource the OCID of what it is about and Kind the type of that.
	Type, Resource, Kind string
	// Related are the OCIDs of the instances that it is about.
	Related []string
	// Number is that of the request among all.
	Number   int64
	Status   Status
	Accepted time.Time
	// Finished is zero while it goes on.
	Finished time.Time
	Errors   []Entry
}

// Entry is an error of a work request.
type Entry struct {
	Code, Message string
	At            time.Time
}

// Running reports whether a work request goes on.
func (w *Work) Running() bool { return w.Finished.IsZero() }

// Service keeps the work requests of a region.
type Service struct {
	*core.State
	region string
	rows   *core.Table[Work]
}

// New returns the service without work requests. region is the key of the region in OCIDs.
func New(state *core.State, region string) *Service {
	return &Service{State: state, region: region, rows: core.NewTable[Work]("oci/work/")}
}

// Tables returns everything that is kept.
func (s *Service) Tables() core.Tables { return core.Tables{s.rows} }

// Begin starts a work request of a type about a resource, and returns it.
func (s *Service) Begin(typ, compartment, kind, resource string, related ...string) *Work {
	number := s.NextNumber("oci-work")
	w := &Work{ID: rest.OCID(s.Seed, s.region, "coreservicesworkrequest", number), Compartment: compartment, Type: typ, Kind: kind,
		Resource: resource, Related: related, Number: number, Status: InProgress, Accepted: s.Now}
	s.rows.Put(w.ID, w)
	return w
}

// Get returns a work request, nil if there is none.
func (s *Service) Get(id string) *Work { return s.rows.Get(id) }

// Note adds an error to a work request, unless its last one is the same.
func (s *Service) Note(w *Work, code, message string) {
	if n := len(w.Errors); n > 0 && w.Errors[n-1].Message == message {
		return
	}
	w.Errors = append(w.Errors, Entry{code, message, s.Now})
	w.Errors = w.Errors[max(0, len(w.Errors)-mostErrors):]
	s.rows.Touch(w.ID)
}

// Relate adds an instance to those that a work request is about.
func (s *Service) Relate(w *Work, instance string) {
	w.Related = append(w.Related, instance)
	s.rows.Touch(w.ID)
}

// End ends a work request that goes on.
func (s *Service) End(w *Work, how Status) {
	if w != nil && w.Running() {
		w.Status, w.Finished = how, s.Now
		s.rows.Touch(w.ID)
	}
}

// Of returns the work requests about a resource, the oldest first.
func (s *Service) Of(resource string) []*Work {
	var out []*Work
	for _, w := range s.rows.All() {
		if w.Resource == resource {
			out = append(out, w)
		}
	}
	slices.SortFunc(out, func(a, b *Work) int { return int(a.Number - b.Number) })
	return out
}

// Tick forgets work requests that ended long ago, and returns when the next one is forgotten; the zero time means never.
func (s *Service) Tick() time.Time {
	var next time.Time
	for id, w := range s.rows.All() {
		if w.Running() {
			continue
		}
		until := w.Finished.Add(kept)
		if core.Due(until, s.Now) {
			s.rows.Delete(id)
			continue
		}
		next = core.Earliest(next, until)
	}
	return next
}
