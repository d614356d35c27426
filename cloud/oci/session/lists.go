package session

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/oci/containerengine"
	"github.com/muster-project/muster/cloud/oci/core"
	"github.com/muster-project/muster/cloud/oci/rest"
	"github.com/muster-project/muster/cloud/sweep"
	"github.com/muster-project/muster/cloud/wire"
)

const (
	// enginePage and corePage are the largest pages of Kubernetes Engine and of Core Services.
	enginePage, corePage = "1000", "100"
	// maxPages bounds the requests for one list.
	maxPages = 1000
)

// List is a complete list of a compartment, shared by all pools. It must not be changed.
type List[T any] struct {
	Items []T
	// Skew is the time by which the cloud's clock is ahead.
	Skew time.Duration
}

// NodePools returns the node pools of a compartment, without their nodes, and when the list was begun. A node pool that is not in the list
// does not exist. maxAge is as in cloud.Target.
func (s *Session) NodePools(ctx context.Context, compartment string, maxAge time.Duration) (
	List[containerengine.NodePoolSummary], time.Time, error,
) {
	return listed(ctx, s.nodePools, compartment, maxAge)
}

// VirtualNodePools returns the virtual node pools of a compartment, without their nodes, and when the list was begun. maxAge is as in
// cloud.Target.
func (s *Session) VirtualNodePools(ctx context.Context, compartment string, maxAge time.Duration) (
	List[containerengine.VirtualNodePoolSummary], time.Time, error,
) {
	return listed(ctx, s.virtualPools, compartment, maxAge)
}

// InstancePools returns the instance pools of a compartment, with their present sizes, and when the list was begun. An instance pool that
// is not in the list does not exist. maxAge is as in cloud.Target.
func (s *Session) InstancePools(ctx context.Context, compartment string, maxAge time.Duration) (
	List[core.InstancePoolSummary], time.Time, error,
) {
	return listed(ctx, s.instancePools, compartment, maxAge)
}

// InstanceConfigurations returns the instance configurations of a compartment, without their values, and when the list was begun. maxAge is
// as in cloud.Target.
func (s *Session) InstanceConfigurations(ctx context.Context, compartment string, maxAge time.Duration) (
	List[core.InstanceConfigurationSummary], time.Time, error,
) {
	return listed(ctx, s.configurations, compartment, maxAge)
}

// TouchNodePools is called before and after a write to a node pool of the compartment: lists that were begun before are out of date.
func (s *Session) TouchNodePools(compartment string) { s.nodePools.Touch(compartment) }

// TouchVirtualNodePools is TouchNodePools for virtual node pools.
func (s *Session) TouchVirtualNodePools(compartment string) { s.virtualPools.Touch(compartment) }

// TouchInstancePools is TouchNodePools for instance pools.
func (s *Session) TouchInstancePools(compartment string) { s.instancePools.Touch(compartment) }

// TouchInstanceConfigurations is TouchNodePools for instance configurations.
func (s *Session) TouchInstanceConfigurations(compartment string) {
	s.configurations.Touch(compartment)
}

func listed[T any](ctx context.Context, from *sweep.Sweep[List[T]], compartment string, maxAge time.Duration) (List[T], time.Time, error) {
	answer, err := from.Get(ctx, compartment, maxAge)
	return answer.Value, answer.At, err
}

// sweeps makes the shared lists.
func (s *Session) sweeps(o Options) {
	s.nodePools = listsOf(s, o, func(p containerengine.NodePoolSummary) *string { return p.Id },
		func(ctx context.Context, in string, page *string) (*rest.Response[[]containerengine.NodePoolSummary], error) {
			return s.Engine.ListNodePools(ctx, containerengine.ListNodePoolsRequest{CompartmentId: &in, Limit: new(enginePage), Page: page})
		})
	s.virtualPools = listsOf(s, o, func(p containerengine.VirtualNodePoolSummary) *string { return p.Id },
		func(ctx context.Context, in string, page *string) (*rest.Response[[]containerengine.VirtualNodePoolSummary], error) {
			return s.Engine.ListVirtualNodePools(ctx,
				containerengine.ListVirtualNodePoolsRequest{CompartmentId: &in, Limit: new(enginePage), Page: page})
		})
	s.instancePools = listsOf(s, o, func(p core.InstancePoolSummary) *string { return p.Id },
		func(ctx context.Context, in string, page *string) (*rest.Response[[]core.InstancePoolSummary], error) {
			return s.Core.ListInstancePools(ctx, core.ListInstancePoolsRequest{CompartmentId: &in, Limit: new(corePage), Page: page})
		})
	s.configurations = listsOf(s, o, func(c core.InstanceConfigurationSummary) *string { return c.Id },
		func(ctx context.Context, in string, page *string) (*rest.Response[[]core.InstanceConfigurationSummary], error) {
			return s.Core.ListInstanceConfigurations(ctx,
				core.ListInstanceConfigurationsRequest{CompartmentId: &in, Limit: new(corePage), Page: page})
		})
}

// listsOf returns the lists of one kind of pools by compartment.
func listsOf[T any](s *Session, o Options, id func(T) *string,
	page func(ctx context.Context, compartment string, page *string) (*rest.Response[[]T], error),
) *sweep.Sweep[List[T]] {
	return sweep.New(sweep.Options[List[T]]{Now: o.Now, Some: func(ctx context.Context, keys []string, found func(string, List[T])) error {
		for _, compartment := range keys {
			var out List[T]
			items, headers, err := ReadAll(ctx, id, func(ctx context.Context, at *string) (*rest.Response[[]T], error) {
				return page(ctx, compartment, at)
			})
			if err != nil {
				return err
			}
			out.Items, out.Skew = items, s.Skew(headers)
			found(compartment, out)
		}
		return nil
	}})
}

// Skew returns the time by which the cloud's clock is ahead, by the headers of an answer that came now.
func (s *Session) Skew(h rest.Headers) time.Duration {
	if h.Date == nil {
		return 0
	}
	return driverkit.ClockSkew(http.Header{"Date": {*h.Date}}, s.now())
}

// ReadAll reads all pages of a list, each item once, and returns the headers of the last page. page reads the page of a token; nil is the
// first.
func ReadAll[T any](ctx context.Context, id func(T) *string, page func(ctx context.Context, at *string) (*rest.Response[[]T], error)) (
	items []T, last rest.Headers, err error,
) {
	seen := map[string]bool{}
	var at *string
	ctx = context.WithValue(ctx, listLeft{}, new(maxList))
	err = wire.ReadPages(ctx, maxPages, func(ctx context.Context) (bool, error) {
		answer, err := page(ctx, at)
		if err != nil {
			return false, err
		}
		for _, item := range answer.Body {
			if key := id(item); key == nil || !seen[*key] {
				items = append(items, item)
				if key != nil {
					seen[*key] = true
				}
			}
		}
		at, last = answer.OpcNextPage, answer.Headers
		return at != nil && *at != "", nil
	})
	return items, last, err
}

// Number returns a number as parameters of requests have it.
func Number(n int) *string { return new(strconv.Itoa(n)) }
