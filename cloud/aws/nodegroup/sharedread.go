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
func (p *pass) holdsStill(ctx context.Context) (bool, error) {
	known := &p.memory.group
	if p.t.MaxAge <= 0 || !p.atRest() || p.now.Sub(known.asked) >= session.SlowPeriod || known.asks != p.t.digest() {
		return false, nil
	}
	behind, at, err := p.c.Group(ctx, p.memory.behindName, p.t.MaxAge)
	if err != nil || behind == nil || !reflect.DeepEqual(behind, p.memory.behind.is) {
		return false, err
	}
	known.at, p.memory.behind.at, p.memory.template.Wrote = at, at, false
	return true, nil
}

// atRest reports whether nothing is going on in the node group, as far as is known: whatever begins shows in the group behind.
func (p *pass) atRest() bool {
	is, behind := p.memory.group.is, p.memory.behind.is
	return is != nil && p.t.owns(is) && is.Status == ekstypes.NodegroupStatusActive && len(healthIssues(is)) == 0 && p.memory.updates.quiet() &&
		behind != nil && p.memory.behindName != "" && !asg.Missing(behind)
}
