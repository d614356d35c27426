package session

import (
	"context"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
)

const (
	// noticesFor is the time for which one read of spot notices serves all pools of a region. A notice comes two minutes ahead.
	noticesFor = 15 * time.Second
	// statusMarked is the status of a spot request whose instance has its notice.
	statusMarked = "marked-for-termination"
	// maxNotices bounds how many notices are read.
	maxNotices = 5000
)

// notices are the spot instances of a region that have their notice, read once for all pools.
type notices struct {
	mu  sync.Mutex
	ids map[string]bool
	// until is the time of the next read.
	until time.Time
	// tolerance decides whether pools are observed without them.
	tolerance driverkit.Tolerance
}

// SpotNotices are the spot instances of the region, by ID, that EC2 takes back within two minutes. One answer serves all pools
// for a moment, unless a fresh one is wanted. If they can't be read, an interruption shows when the instance has ended.
func (s *Session) SpotNotices(ctx context.Context, now time.Time, fresh bool) (map[string]bool, error) {
	shared := &s.notices
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if now.Before(shared.until) && !fresh {
		return shared.ids, nil
	}
	pages := ec2.NewDescribeSpotInstanceRequestsPaginator(s.EC2, &ec2.DescribeSpotInstanceRequestsInput{
		Filters: []ec2types.Filter{{Name: new("status-code"), Values: []string{statusMarked}}},
	})
	found, err := Listed(ctx, pages, func(page *ec2.DescribeSpotInstanceRequestsOutput) []ec2types.SpotInstanceRequest {
		return page.SpotInstanceRequests
	}, maxNotices, now)
	if failed := shared.tolerance.Tolerate(now, err); failed != nil {
		return nil, failed
	}
	if shared.ids, shared.until = map[string]bool{}, now.Add(noticesFor); err != nil && cloud.KindOf(err) == cloud.Denied {
		shared.until = now.Add(SlowPeriod)
	}
	for _, r := range found {
		shared.ids[ptr.Deref(r.InstanceId, "")] = true
	}
	return shared.ids, nil
}
