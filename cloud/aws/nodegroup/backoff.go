package nodegroup

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
)

const (
	// configRest is how long after the end of a change of the configuration that EKS took and that failed another is asked for. It
	// doubles with every failure in a row up to configRestMost, which is short enough for who has mended what it failed for.
	configRest, configRestMost = 30 * time.Second, 5 * time.Minute
	// configTold is how long such a failure is reported. As long as something is to be changed it is tried again, and reported anew.
	configTold = time.Hour
)

// rests returns an error while the next change of the configuration waits, because the last ones failed after EKS had accepted them.
func (p *pass) rests() error {
	list := p.memory.updates.of(ekstypes.UpdateTypeConfigUpdate)
	rest := time.Duration(0)
	for _, u := range list {
		if u.Status != ekstypes.UpdateStatusFailed || rest >= configRestMost {
			break
		}
		rest = min(max(configRest, 2*rest), configRestMost)
	}
	if rest == 0 {
		return nil
	}
	left := list[0].ended.Add(rest).Sub(p.now)
	if left <= 0 {
		return nil
	}
	return &cloud.Error{Kind: cloud.Throttled, Op: "eks:UpdateNodegroupConfig", Code: "UpdateFailed", After: left, Message: fmt.Sprintf(
		"the last change of node group %s failed and the next one is asked for after a pause: %s", p.t.name, reasonOf(list[0].Errors))}
}

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

// updatesChanged reports whether updates may have begun or ended since they were read. EKS updates no group that it creates or deletes.
func (p *pass) updatesChanged(is *ekstypes.Nodegroup) bool {
	known := &p.memory.updates
	if known.creating {
		known.at, known.creating = p.now, is.Status == ekstypes.NodegroupStatusCreating
	}
	changed := session.Deref(is.ModifiedAt).After(known.at.Add(-session.SameMoment)) && is.Status != ekstypes.NodegroupStatusDeleting
	return changed && p.now.Sub(known.at) > session.SameMoment || p.slow.Due(known.at, session.TracedPeriod)
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
