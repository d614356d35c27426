package oke

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/oci/containerengine"
	"github.com/muster-project/muster/cloud/oci/rest"
	"github.com/muster-project/muster/cloud/oci/session"
	"github.com/muster-project/muster/pool"
)

const (
	// pageSize is the largest page of a list.
	pageSize = 1000
	// maxReasons bounds how many errors of a work request are told.
	maxReasons = 3

	workFailed = "FAILED"
)

// Work is a work request on a pool.
type Work = containerengine.WorkRequestSummary

// Reasons are the errors of work requests that have failed, by their OCIDs.
type Reasons map[string]string

// readWorks returns the work requests on a pool of the cluster, the newest first.
func (p Pool) readWorks(ctx context.Context, c *session.Session, id string) ([]Work, error) {
	works, _, err := session.ReadAll(ctx, func(w Work) *string { return w.Id },
		func(ctx context.Context, at *string) (*rest.Response[[]Work], error) {
			return c.Engine.ListWorkRequests(ctx, containerengine.ListWorkRequestsRequest{CompartmentId: new(p.Compartment()),
				ClusterId: &p.Cluster.ID, ResourceId: &id, Limit: session.Number(pageSize), Page: at})
		})
	slices.SortFunc(works, func(a, b Work) int { // times in UTC of one form
		return cmp.Or(strings.Compare(text(b.TimeAccepted), text(a.TimeAccepted)), strings.Compare(text(b.Id), text(a.Id)))
	})
	return works, err
}

// readReasons returns why the newest of work requests has failed, if it has: what is known, or what OKE tells.
func (p Pool) readReasons(ctx context.Context, c *session.Session, works []Work, known Reasons) (Reasons, error) {
	if len(works) == 0 || text(works[0].Status) != workFailed || known[text(works[0].Id)] != "" {
		return known, nil
	}
	answer, err := c.Engine.ListWorkRequestErrors(ctx, containerengine.ListWorkRequestErrorsRequest{WorkRequestId: works[0].Id,
		CompartmentId: new(p.Compartment())})
	if err != nil {
		return known, err
	}
	var words []string
	for _, e := range answer.Body {
		if words = append(words, driverkit.FailureOf(session.FailureOf(text(e.Code), text(e.Message))).Message); len(words) == maxReasons {
			break
		}
	}
	return Reasons{text(works[0].Id): strings.Join(slices.Compact(words), "; ")}, nil
}

// workStates are the states of rollouts by the statuses of work requests.
var workStates = map[string]pool.ProviderRolloutState{
	"ACCEPTED": pool.ProviderRolloutRunning, "IN_PROGRESS": pool.ProviderRolloutRunning, "CANCELING": pool.ProviderRolloutCancelling,
	workFailed: pool.ProviderRolloutFailed, "CANCELED": pool.ProviderRolloutCancelled,
}

// Rollout returns the cycling that runs, or that was the last change of a pool and has ended without success; nil for none. cycles tells
// which work requests cycle nodes. Times are the cloud's less skew, the time by which its clock is ahead.
func Rollout(works []Work, cycles func(Work) bool, reasons Reasons, skew time.Duration) *pool.ProviderRollout {
	if len(works) == 0 || !cycles(works[0]) {
		return nil
	}
	last := works[0]
	state, known := workStates[text(last.Status)]
	if !known {
		return nil
	}
	out := &pool.ProviderRollout{ID: text(last.Id), State: state, Started: Ours(last.TimeAccepted, skew)}
	if out.Runs() {
		return out
	}
	out.Ended, out.Reason = Ours(last.TimeFinished, skew), reasons[text(last.Id)]
	for _, w := range works {
		if !cycles(w) || text(w.Status) == "SUCCEEDED" {
			break
		}
		out.Failures++
	}
	return out
}

// Ours returns a time of the cloud's clock by Muster's; zero for none.
func Ours(written *string, skew time.Duration) time.Time {
	t, err := time.Parse(time.RFC3339, text(written))
	if err != nil {
		return time.Time{}
	}
	return t.Add(-skew)
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

const allPercent = 100

// Share returns how many percent so many of all are; all of none.
func Share(done, all int) int {
	if all == 0 {
		return allPercent
	}
	return allPercent * done / all
}
