package compute

import (
	"fmt"
	"time"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/fleet"
	"github.com/muster-project/muster/sim/oci/catalogue"
	"github.com/muster-project/muster/sim/oci/rest"
	"github.com/muster-project/muster/sim/oci/workrequests"
)

// Options configure the service.
type Options struct {
	// Region is the region, RegionKey its short name in OCIDs, Domains its availability domains.
	Region, RegionKey string
	Domains           []string
	Limits            *catalogue.Limits
	Works             *workrequests.Service
	// Images returns the version of Kubernetes in an image that other services publish and whether it is for Arm processors; known is false
	// for an image that does not exist.
	Images func(ocid string) (version string, arm, known bool)
}

// store holds the resources.
type store struct {
	*core.State
	Options
	configurations *core.Table[configuration]
	pools          *core.Table[pool]
	instances      *fleet.Machines[instance, *instance]
	// launches are the details from which instances were launched.
	launches core.Contents[document.Object]
}

// Service is Compute Management in one region. Its methods on resources are what a user does in the console.
type Service struct {
	rows     *store
	life     *machines
	launcher *launcher
	scaler   *scaler
}

// New returns the service without resources.
func New(state *core.State, options Options) *Service {
	rows := &store{State: state, Options: options, configurations: core.NewTable[configuration]("oci/configuration/"),
		pools: core.NewTable[pool]("oci/pool/"), launches: core.NewContents[document.Object]("oci/launch/")}
	s := &Service{rows: rows, life: &machines{rows}, launcher: &launcher{rows}}
	s.scaler = &scaler{rows, s.life, s.launcher}
	rows.instances = fleet.New(state, "oci/instance/", fleet.Kind[*instance]{
		Group:    func(m *instance) string { return nameOf(rows, m.Pool) },
		Occupies: func(m *instance) bool { return m.State != terminated },
		Runs:     func(m *instance) bool { return !m.Booted.IsZero() },
		Guest:    s.launcher.guest,
	})
	options.Limits.Count(func(shape string) int { return used(rows, shape) })
	return s
}

// used counts the instances of a shape.
func used(s *store, shape string) int {
	n := 0
	for _, m := range s.instances.All() {
		if m.Type == shape && m.State != terminated {
			n++
		}
	}
	return n
}

// nameOf returns the name of a pool, "" for none.
func nameOf(s *store, id string) string {
	if p := s.pools.Get(id); p != nil {
		return p.text("displayName")
	}
	return ""
}

// Tick brings the service to the present and returns when something is due next; the zero time means never.
func (s *Service) Tick() time.Time {
	s.life.tick()
	var next time.Time
	for _, p := range s.rows.pools.All() {
		next = core.Earliest(next, s.scaler.step(p))
	}
	s.launcher.sweep()
	return core.Earliest(next, s.life.tick())
}

// ocid returns the identifier of a resource of a kind.
func (s *store) ocid(kind string, of ...any) string {
	return rest.OCID(s.Seed, s.RegionKey, kind, of...)
}

// Tables returns everything that is kept.
func (s *Service) Tables() core.Tables {
	return core.Tables{s.rows.configurations, s.rows.pools, s.rows.instances.Table, s.rows.launches}
}

// Resume powers on again the instances that ran.
func (s *Service) Resume() { s.rows.instances.Resume() }

// Power powers instances on and off.
func (s *Service) Power() { s.rows.instances.Power() }

// Etag returns the etag of a configuration or a pool, "" where there is none of that OCID any more.
func (s *Service) Etag(id string) string {
	if p := s.rows.pools.Get(id); p != nil && p.State != terminating && p.State != terminated {
		return p.etag()
	}
	if c := s.rows.configurations.Get(id); c != nil {
		return rest.Etag(c.ID, c.Revision)
	}
	return ""
}

// members returns the instances of a pool in the order of their launch, also those that are on their way out.
func (s *store) members(p *pool) []*instance { return s.instances.Of(p.ID + "|") }

// staying returns the instances of a pool that count for its size.
func (s *store) staying(p *pool) (out []*instance) {
	for _, m := range s.members(p) {
		if !m.leaving() {
			out = append(out, m)
		}
	}
	return out
}

// existing counts the instances of a pool that have not ended.
func (s *store) existing(p *pool) int {
	n := 0
	for _, m := range s.members(p) {
		if m.State != terminated {
			n++
		}
	}
	return n
}

// key returns the key of the row of an instance.
func (m *instance) key() string { return fmt.Sprintf("%s|%08d", m.Pool, m.Number) }

// find returns the instance of an OCID, nil if there is none.
func (s *store) find(id string) *instance {
	for _, m := range s.instances.All() {
		if m.ID == id {
			return m
		}
	}
	return nil
}

// changed notes that a client has changed a pool.
func (s *store) changed(p *pool) {
	p.Revision++
	p.Retry = time.Time{}
	s.pools.Touch(p.ID)
}

// enter brings a pool into a state.
func (s *store) enter(p *pool, state string) {
	if p.State != state {
		p.State, p.Since = state, s.Now
		s.pools.Touch(p.ID)
	}
}
