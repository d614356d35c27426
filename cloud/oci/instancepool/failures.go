package instancepool

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/oci/rest"
	"github.com/muster-project/muster/cloud/oci/session"
	"github.com/muster-project/muster/cloud/oci/workrequests"
	"github.com/muster-project/muster/pool"
)

const (
	// launches is part of the type of work requests that launch instances.
	launches = "LAUNCH"
	// failuresAge is the age after which the work requests of a pool that lacks instances are read again, requestsMost the number of requests
	// whose errors are read: the newest.
	failuresAge  = 30 * time.Second
	requestsMost = 2
	// stuckAfter is the time after which a pool that is still launching counts as one that OCI is not at work on.
	stuckAfter = 15 * time.Minute
)

// failures are why instances do not come, as work requests tell.
type failures struct {
	at     time.Time
	causes []pool.Cause
	// moving is since when the pool is not at rest; zero if it is.
	moving time.Time
}

// launcher reads why instances of the pool do not come.
type launcher struct{ p *pass }

// addFailures adds to an observation why instances of the pool do not come, in OCI's words, as long as they do not come. No call about the
// pool tells: its work requests do.
func (r launcher) addFailures(ctx context.Context, want desired, out *pool.Observed) error {
	read, f := r.p.memory.read, &r.p.memory.failures
	state := value(read.is.LifecycleState)
	if state == stateRunning || state == stateStopped {
		f.moving = time.Time{}
	} else if f.moving.IsZero() {
		f.moving = r.p.now
	}
	lacks := !slices.ContainsFunc([]string{stateTerminating, stateStopped, stateStopping}, func(s string) bool { return s == state }) &&
		read.staying() < value(read.is.Size)
	if !lacks {
		f.at, f.causes = time.Time{}, nil
	} else if r.p.now.Sub(f.at) >= failuresAge {
		causes, err := r.readFailures(ctx, value(read.is.Id))
		if err != nil {
			if failed := r.p.memory.tolerance.Tolerate(r.p.now, err); failed != nil {
				return failed
			}
			causes = []pool.Cause{driverkit.CauseOf(err)}
		}
		f.at, f.causes = r.p.now, causes
	}
	out.Issues = append(out.Issues, f.causes...)
	out.Group.Busy = r.busy(state)
	r.addStuck(want, out)
	return nil
}

// addStuck adds to an observation that the pool can only be created again: no instance of it has ever come, what it launches from is not
// what is desired any more, and OCI takes no change of it before it gives up, after a day.
func (r launcher) addStuck(want desired, out *pool.Observed) {
	is, f := r.p.memory.read.is, r.p.memory.failures
	if f.moving.IsZero() || r.p.memory.closed != value(is.Id) {
		r.p.memory.closed = ""
		return
	}
	differs := out.Group.Drift
	launched := configurator(r).templateOf(value(is.InstanceConfigurationId), want.template)
	if out.Wanted.Content != "" && !launched.Same(out.Wanted) {
		differs = append(slices.Clone(differs), fieldConfiguration)
	}
	if len(out.Instances) > 0 || len(f.causes) == 0 || len(differs) == 0 {
		return
	}
	out.Group.Failed, out.Group.Unchangeable = &f.causes[0], differs
}

// busy returns what OCI does to the pool, which it lets nothing change meanwhile. A pool whose launches fail, or that waits for a drain,
// may be so for a day: changes are requested all the same, and OCI decides.
func (r launcher) busy(state string) *pool.Cause {
	f := r.p.memory.failures
	transient := state == "PROVISIONING" || state == "STARTING" || state == "SCALING" || state == stateStopping
	if !transient || len(f.causes) > 0 || r.p.memory.holds.any(r.p.memory.read.is) || r.p.now.Sub(f.moving) >= stuckAfter {
		return nil
	}
	return &pool.Cause{Reason: "PoolBusy", Message: "OCI is at work on the instance pool: " + state}
}

// workRequests reads the work requests about a resource whose types have one of some words, the newest first.
func (r launcher) workRequests(ctx context.Context, ocid string, words ...string) ([]workrequests.WorkRequestSummary, error) {
	requests, _, err := session.ReadAll(ctx, func(w workrequests.WorkRequestSummary) *string { return w.Id },
		func(ctx context.Context, at *string) (*rest.Response[[]workrequests.WorkRequestSummary], error) {
			return r.p.c.Work.ListWorkRequests(ctx, workrequests.ListWorkRequestsRequest{CompartmentId: &r.p.t.cluster.CompartmentID,
				ResourceId: &ocid, Limit: new(pageSize), Page: at})
		})
	if err != nil {
		return nil, err
	}
	requests = slices.DeleteFunc(requests, func(w workrequests.WorkRequestSummary) bool {
		kind := strings.ToUpper(value(w.OperationType))
		return !slices.ContainsFunc(words, func(word string) bool { return strings.Contains(kind, word) })
	})
	slices.SortStableFunc(requests, func(a, b workrequests.WorkRequestSummary) int {
		return cmp.Compare(value(b.TimeAccepted), value(a.TimeAccepted))
	})
	return requests, nil
}

// readFailures reads the errors of the newest work requests that launch instances.
func (r launcher) readFailures(ctx context.Context, ocid string) (out []pool.Cause, err error) {
	requests, err := r.workRequests(ctx, ocid, launches)
	if err != nil {
		return nil, err
	}
	for _, w := range requests[:min(len(requests), requestsMost)] {
		if out, err = r.readErrors(ctx, value(w.Id), out); err != nil || len(out) > 0 {
			return out, err
		}
	}
	return nil, nil
}

// domains returns the availability domains of the pool, for messages that name none.
func (r launcher) domains() string {
	var names []string
	for _, c := range r.p.memory.read.is.PlacementConfigurations {
		names = append(names, value(c.AvailabilityDomain))
	}
	if len(names) == 1 {
		return "availability domain " + names[0]
	}
	return "availability domains " + strings.Join(names, ", ")
}

// readErrors adds the errors of a work request, each once.
func (r launcher) readErrors(ctx context.Context, request string, out []pool.Cause) ([]pool.Cause, error) {
	list, _, err := session.ReadAll(ctx, func(workrequests.WorkRequestError) *string { return nil },
		func(ctx context.Context, at *string) (*rest.Response[[]workrequests.WorkRequestError], error) {
			return r.p.c.Work.ListWorkRequestErrors(ctx, workrequests.ListWorkRequestErrorsRequest{WorkRequestId: &request, Limit: new(pageSize),
				Page: at})
		})
	for _, e := range list {
		code, message := value(e.Code), value(e.Message)
		if own, words, has := strings.Cut(message, ": "); has && !strings.Contains(own, " ") {
			code, message = own, words // the code within the message says more: the other one may be that of all failures
		}
		failed := session.FailureOf(code, message)
		if failed.Kind == cloud.Capacity && !strings.Contains(failed.Message, "-AD-") {
			failed.Message += " (" + r.domains() + ")"
		}
		issue := driverkit.FailureOf(failed)
		issue.Message = cloud.Redact(issue.Message, r.p.t.Bootstrap)
		if !slices.Contains(out, issue) {
			out = append(out, issue)
		}
	}
	slices.SortFunc(out, func(a, b pool.Cause) int {
		return cmp.Or(cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Message, b.Message))
	})
	return out, err
}
