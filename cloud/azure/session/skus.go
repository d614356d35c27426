package session

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
)

const (
	// catalogueFor is the time for which the list of machine sizes of a location serves all pools.
	catalogueFor = 24 * time.Hour
	// missingFor is the time for which a size that the list lacks counts as unknown before the list is read again: it may be new, or may
	// have been allowed to the subscription since.
	missingFor = 10 * time.Minute
	// typeMachines is the type of the sizes in a list that holds disks and much else too.
	typeMachines = "virtualMachines"
)

// catalogue are the machine sizes of locations, each list read once for all pools.
type catalogue struct {
	mu sync.Mutex
	by map[string]*sizes
}

// sizes are those of one location, by name in small letters.
type sizes struct {
	// reading is full while one pass uses or reads the list: the list is long, and the passes that need it wait for the one that reads.
	reading chan struct{}
	known   map[string]*armcompute.ResourceSKU
	at      time.Time
}

// SKU returns Azure's description of a machine size in a location, as the identity sees it; nil if there is none of that name. It must not
// be changed.
func (s *Session) SKU(ctx context.Context, location, size string, now time.Time) (*armcompute.ResourceSKU, error) {
	in := s.catalogue.of(locationName(location))
	select {
	case in.reading <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-in.reading }()
	found := in.known[strings.ToLower(size)]
	age := now.Sub(in.at)
	if in.known != nil && age < catalogueFor && (found != nil || age < missingFor) {
		return found, nil
	}
	list, err := s.sizes(ctx, locationName(location), now)
	if err != nil {
		if found != nil {
			// A stale entry is better than none. The next pass reads the list again.
			return found, nil
		}
		return nil, err
	}
	in.known, in.at = list, now
	return list[strings.ToLower(size)], nil
}

// sizes reads the list of a location.
func (s *Session) sizes(ctx context.Context, location string, now time.Time) (map[string]*armcompute.ResourceSKU, error) {
	filter := "location eq '" + strings.ReplaceAll(location, "'", "''") + "'"
	pages := s.SKUs.NewListPager(&armcompute.ResourceSKUsClientListOptions{Filter: &filter})
	list, err := Listed(ctx, pages, func(page armcompute.ResourceSKUsClientListResponse) []*armcompute.ResourceSKU { return page.Value }, now)
	if err != nil {
		return nil, err
	}
	known := map[string]*armcompute.ResourceSKU{}
	for _, sku := range list {
		if sku.Name != nil && sku.ResourceType != nil && strings.EqualFold(*sku.ResourceType, typeMachines) {
			known[strings.ToLower(*sku.Name)] = sku
		}
	}
	return known, nil
}

func (c *catalogue) of(location string) *sizes {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]*sizes{}
	}
	found, ok := c.by[location]
	if !ok {
		found = &sizes{reading: make(chan struct{}, 1)}
		c.by[location] = found
	}
	return found
}
