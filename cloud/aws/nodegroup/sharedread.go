package nodegroup

import (
	"context"
	"reflect"

	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
)

// holdsStill reports whether what EKS said of the node group is taken to hold because the group behind it, which is read for many pools
// in one call, is as it was then. EKS has no such call. It is asked once in a while all the same, and whenever the answer must be exact.
func (r *reader) holdsStill(ctx context.Context) (bool, error) {
	known := &r.memory.group
	if r.t.Cache.MaxAge <= 0 || !r.memory.atRest(r.t) || r.now.Sub(known.asked) >= session.SlowPeriod || known.asks != r.t.digest() {
		return false, nil
	}
	behind, at, err := r.c.Group(ctx, r.memory.behindName, r.t.Cache.MaxAge)
	if err != nil || behind == nil || !reflect.DeepEqual(behind, r.memory.behind.is) {
		return false, err
	}
	known.at, r.memory.behind.at, r.memory.template.Wrote = at, at, false
	return true, nil
}

// atRest reports whether nothing is going on in the node group, as far as is known: whatever begins shows in the group behind.
func (m *memory) atRest(t target) bool {
	is, behind := m.group.is, m.behind.is
	return is != nil && t.owns(is) && is.Status == ekstypes.NodegroupStatusActive && len(healthIssues(is)) == 0 && m.updates.quiet() &&
		behind != nil && m.behindName != "" && !asg.Missing(behind)
}
