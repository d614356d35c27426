package detail

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/policy"
	"github.com/muster-project/muster/pool/rollouts"
	"github.com/muster-project/muster/view/rollout"
)

// Policies is what the rollout policies of a pool allow.
type Policies struct {
	// Names of the policies, with their kinds.
	Names []string `json:"names"`
	// Closed are the causes for which machines are not replaced now, each once. Changes is when that changes; zero if it never does.
	Closed  []Cause   `json:"closed,omitempty"`
	Changes time.Time `json:"changes,omitzero"`
}

// readPolicies reads the policies of the pool as the user.
func (f *Facts) readPolicies(ctx context.Context, c client.Client, now time.Time) {
	e, err := rollout.Pool{MachinePool: f.Pool, Cluster: f.Cluster}.Policies(ctx, c)
	switch {
	case err != nil:
		f.Unread = append(f.Unread, "the rollout policies: "+err.Error())
	case len(e.Policies) > 0:
		f.Policies = policiesOf(e, now)
	}
}

// policiesOf describes the effect of policies at a time.
func policiesOf(e policy.Effective, now time.Time) *Policies {
	limits := e.Limits(now)
	out := &Policies{Changes: limits.Changes}
	for _, p := range e.Policies {
		out.Names = append(out.Names, p.String())
	}
	known := map[Cause]bool{}
	for _, r := range rollouts.Reasons {
		c, closed := limits.Closed[r]
		if one := (Cause{c.Cause.Reason, c.Cause.Message}); closed && !known[one] {
			known[one] = true
			out.Closed = append(out.Closed, one)
		}
	}
	return out
}

// progress adds how far the rollout is.
func (d *Detail) progress(f Facts) {
	if s := rollout.StatusOf(rollout.Pool{MachinePool: f.Pool, Infra: f.Infra}); s.ID != "" {
		d.Progress = &s
	}
}
