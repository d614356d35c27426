package session

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/sweep"
	"github.com/muster-project/muster/cloud/wire"
)

// Set is a scale set as it was read.
type Set struct {
	// Is is nil if there is no such scale set. It is shared by all pools and must not be changed.
	Is *armcompute.VirtualMachineScaleSet
	// Skew is the lead of Azure's clock over Muster's.
	Skew time.Duration
}

// sets are the scale sets of a session's subscription, read for all pools together.
type sets struct {
	client       *armcompute.VirtualMachineScaleSetsClient
	subscription string
	now          func() time.Time
	// names are the resource group and the name of each key as pools spell them: Azure ignores case.
	names sync.Map
	list  relisted[armcompute.VirtualMachineScaleSet]
	// pages is the number of pages of the last list.
	pages atomic.Int64
}

// setName is a resource group and a name as a pool spells them, and the ID that they make.
type setName struct{ group, name, id string }

func newSets(client *armcompute.VirtualMachineScaleSetsClient, subscription string, o Options) (*sets, *sweep.Sweep[Set]) {
	s := &sets{client: client, subscription: subscription, now: o.Now}
	return s, sweep.New(sweep.Options[Set]{Some: s.some, All: s.all, Now: o.Now, Eager: o.Listing})
}

// key returns the key of a scale set in the sweep.
func (s *sets) key(group, name string) string {
	key := strings.ToLower(group + "/" + name)
	if _, known := s.names.Load(key); !known {
		id := "/subscriptions/" + s.subscription + "/resourceGroups/" + group + "/providers/Microsoft.Compute/virtualMachineScaleSets/" + name
		s.names.Store(key, setName{group, name, id})
	}
	return key
}

// named returns the name of a key.
func (s *sets) named(key string) setName {
	stored, _ := s.names.Load(key)
	name, _ := stored.(setName)
	return name
}

// some reads one scale set.
func (s *sets) some(ctx context.Context, keys []string, found func(string, Set)) error {
	for _, key := range keys {
		name := s.named(key)
		var reply *http.Response
		answer, err := s.client.Get(policy.WithCaptureResponse(ctx, &reply), name.group, name.name, nil)
		if err = Refusal(err, s.now()); err != nil && !Absent(err) {
			return err
		}
		if err == nil {
			found(key, Set{Is: &answer.VirtualMachineScaleSet, Skew: s.skew(reply)})
		}
	}
	return nil
}

// all lists the scale sets of the subscription.
func (s *sets) all(ctx context.Context, found func(string, Set)) (pages int, err error) {
	var reply *http.Response
	ctx, _ = wire.Paged(policy.WithCaptureResponse(ctx, &reply), int(s.pages.Load()))
	err = read(ctx, &s.list, s.client.NewListAllPager(nil), s.now(), func(page []*armcompute.VirtualMachineScaleSet) {
		pages++
		for _, is := range page {
			if keyOfID(is.ID) != "" {
				found(keyOfID(is.ID), Set{Is: is, Skew: s.skew(reply)})
			}
		}
	})
	if err == nil {
		s.pages.Store(int64(pages))
	}
	return pages, err
}

// keyOfID returns the key of a scale set that a listing names, empty if it is none.
func keyOfID(id *string) string {
	if id == nil {
		return ""
	}
	// /subscriptions/S/resourceGroups/G/providers/Microsoft.Compute/virtualMachineScaleSets/NAME
	parts := strings.Split(strings.ToLower(*id), "/")
	if len(parts) != 9 {
		return ""
	}
	return parts[4] + "/" + parts[8]
}

// skew returns how far Azure's clock is ahead of Muster's, as far as a reply's header shows it.
func (s *sets) skew(reply *http.Response) time.Duration {
	if reply == nil {
		return 0
	}
	return driverkit.ClockSkew(reply.Header, s.now())
}

// Set returns a scale set and when it was read. maxAge is as in cloud.Target.
func (s *Session) Set(ctx context.Context, group, name string, maxAge time.Duration) (Set, time.Time, error) {
	answer, err := s.shared.Get(ctx, s.sets.key(group, name), maxAge)
	return answer.Value, answer.At, err
}

// newGrouped makes the sweep over all scale sets of a resource group: keys are the names of resource groups as pools spell them.
func newGrouped(client *armcompute.VirtualMachineScaleSetsClient, now func() time.Time) *sweep.Sweep[[]*armcompute.VirtualMachineScaleSet] {
	type page = armcompute.VirtualMachineScaleSetsClientListResponse
	some := func(ctx context.Context, groups []string, found func(string, []*armcompute.VirtualMachineScaleSet)) error {
		for _, group := range groups {
			list, err := Listed(ctx, client.NewListPager(group, nil), func(p page) []*armcompute.VirtualMachineScaleSet { return p.Value }, now())
			if err != nil && !Absent(err) {
				return err
			}
			found(group, list)
		}
		return nil
	}
	return sweep.New(sweep.Options[[]*armcompute.VirtualMachineScaleSet]{Some: some, Now: now})
}

// SetsOf returns the scale sets of a resource group; none if there is no such group. They are shared and must not be changed.
func (s *Session) SetsOf(ctx context.Context, group string, maxAge time.Duration) ([]*armcompute.VirtualMachineScaleSet, error) {
	answer, err := s.grouped.Get(ctx, group, maxAge)
	return answer.Value, err
}

// TouchSet is called before and after a write that concerns a scale set or its machines: what was read of them before is out of date.
func (s *Session) TouchSet(group, name string) {
	key := s.sets.key(group, name)
	s.shared.Touch(key)
	s.sharedMachines.Touch(key)
}

// OurTime converts a time of Azure's clock to the controller's clock. skew is the lead of Azure's clock. It returns zero for nil.
func OurTime(at *time.Time, skew time.Duration) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.Add(-skew)
}
