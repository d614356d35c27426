package nodegroup

import (
	"context"
	"encoding/json"
	"reflect"
	"time"

	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
)

// holdsStill reports whether what EKS said of the node group is taken to hold because the group behind it, which is read for many pools
// in one call, is as it was then. EKS has no such call. It is asked once in a while all the same, and whenever the answer must be exact.
func (p *pass) holdsStill(ctx context.Context) (bool, error) {
	known := &p.memory.group
	if p.t.MaxAge <= 0 || !p.atRest() || p.now.Sub(known.asked) >= session.SlowPeriod || known.asks != p.asks() {
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
	return is != nil && p.ours(is) && is.Status == ekstypes.NodegroupStatusActive && len(healthIssues(is)) == 0 && p.memory.updates.quiet() &&
		behind != nil && p.memory.behindName != "" && !asg.Missing(behind)
}

// asksLength is in hex digits of what tells specifications apart.
const asksLength = 16

// asks tells specifications apart.
func (p *pass) asks() string {
	text, err := json.Marshal([]any{p.t.pool, p.t.KubernetesVersion, p.t.cluster.ControlPlaneVersion})
	if err != nil {
		return ""
	}
	return cloud.Digest(text, asksLength)
}

// noteFailure keeps the moment at which the last deletion failed: as the group says, else when that was first seen.
func (p *pass) noteFailure(is *ekstypes.Nodegroup) {
	changed := session.Deref(is.ModifiedAt)
	switch {
	case is.Status != ekstypes.NodegroupStatusDeleteFailed:
		p.memory.deleteFailed = time.Time{}
	case changed.After(p.memory.deleteFailed) && changed.Before(p.now):
		// Another deletion may have failed between two looks.
		p.memory.deleteFailed = changed
	case p.memory.deleteFailed.IsZero():
		p.memory.deleteFailed = p.now
	}
}
