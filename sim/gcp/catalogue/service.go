// Package catalogue simulates what managed instance groups refer to in Compute Engine: machine types, images, networks, zones, regions and
// their quotas.
package catalogue

import (
	"strings"
	"time"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/project"
)

// Service holds what others refer to. Its operations run one at a time.
type Service struct {
	core *project.Core
	// Resources are all that is not in the code: networks, subnetworks, images, health checks, autoscalers.
	Resources *core.Table[Resource]
	// Quotas are how much of a metric may be used in a region, by both.
	Quotas *core.Table[Quota]
	// used returns how much of a metric is used in a region, userOf what uses a resource, "" for nothing.
	used   func(region, metric string) int
	userOf func(path string) string
}

// Resource is a resource that others refer to.
type Resource struct {
	Path    string
	ID      uint64
	Created time.Time
	Doc     document.Object
}

// Quota limits the use of a metric.
type Quota struct{ Limit float64 }

// New returns a service that holds nothing. used returns how much of a metric is used in a region, userOf what uses a resource, "" for
// nothing.
func New(base *project.Core, used func(region, metric string) int, userOf func(path string) string) *Service {
	return &Service{core: base, Resources: core.NewTable[Resource]("resource/"), Quotas: core.NewTable[Quota]("quota/"), used: used,
		userOf: userOf}
}

// Tables returns the tables of the service.
func (w *Service) Tables() core.Tables { return core.Tables{w.Resources, w.Quotas} }

// Has reports whether a resource exists.
func (w *Service) Has(path string) bool { return w.Resources.Get(path) != nil }

// Image finds an image by its URL or that of its family, nil for none.
func (w *Service) Image(id, link string) *Resource {
	path := project.PathOf(link, id)
	if r := w.Resources.Get(path); r != nil {
		return r
	}
	owner, family, isFamily := strings.Cut(path, "/global/images/family/")
	if !isFamily {
		return nil
	}
	return w.Newest(owner, family)
}

// Newest returns the newest image of a family that is not deprecated, nil for none.
func (w *Service) Newest(owner, family string) *Resource {
	var found *Resource
	for _, r := range w.Resources.Under(owner + "/global/images/") {
		if document.Text(r.Doc, "family") == family && r.Doc["deprecated"] == nil && (found == nil || !r.Created.Before(found.Created)) {
			found = r
		}
	}
	return found
}
