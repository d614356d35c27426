package containerengine

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
	"github.com/muster-project/muster/sim/oci/catalogue"
	"github.com/muster-project/muster/sim/oci/rest"
)

// Options configure the service.
type Options struct {
	// Region is the region, RegionKey its short name in OCIDs, Domains its availability domains.
	Region, RegionKey string
	Domains           []string
	// Versions of Kubernetes that are offered, the newest first; nil means some of each minor version from 1.31 to 1.35.
	Versions []string
	// Limits are those of the tenancy.
	Limits *catalogue.Limits
}

// Service is OKE in one region.
type Service struct {
	*core.State
	// Managed keeps clusters and pools. The key of a cluster and the name of a pool are their OCIDs; names of users are in the documents.
	Managed *managed.Service
	options Options
	works   *core.Table[work]
	nodes   *core.Table[nodeRow]
	gone    *core.Table[goneRow]
}

// Durations in life. Those of drains are in the eviction settings of pools.
const (
	lifeCreate, lifeUpgrade, lifeChange = 5 * time.Minute, 10 * time.Minute, time.Minute
	lifeJoin, lifeStop, lifeAccept      = 20 * time.Minute, time.Minute, 2 * time.Second
	keptWorks, keptPools                = 24 * time.Hour, 24 * time.Hour
)

// New returns the service without clusters.
func New(state *core.State, options Options) *Service {
	if options.Versions == nil {
		options.Versions = versions
	}
	s := &Service{State: state, options: options, works: core.NewTable[work]("oke/work/"), nodes: core.NewTable[nodeRow]("oke/node/"),
		gone: core.NewTable[goneRow]("oke/gone/")}
	s.Managed = managed.New(state, managed.Settings{
		Prefix: "oke/", Cloud: "oci", Operator: "oke-node-operator", Region: options.Region, Guest: s.guest, Overlaps: true,
		OldestFirst: state.Switches.On(TakesOldest), Create: lifeCreate, Upgrade: lifeUpgrade, Change: lifeChange, Join: lifeJoin, Stop: lifeStop,
		Lag: lifeAccept, Kept: keptWorks, Refuses: s.refuses,
		ID: func(i *managed.Instance) string {
			if s.isVirtual(i) {
				return s.OCID("virtualnode", i.Key)
			}
			return s.OCID("instance", i.Key)
		},
		Named: func(c *managed.Cluster, p *managed.Pool, i *managed.Instance) string {
			return fmt.Sprintf("oke-%s-%s-s%s-%d", tail(c.Key), tail(p.Name), tail(s.OCID("subnet", i.Zone))[1:], i.Number)
		},
	})
	options.Limits.Count(s.used)
	return s
}

// used counts the machines of a shape.
func (s *Service) used(shape string) int {
	n := 0
	for _, i := range s.Managed.Instances.Rows.All() {
		if i.Type == shape && !i.Deleting {
			n++
		}
	}
	return n
}

// OCID returns an identifier of a kind of resource in the region.
func (s *Service) OCID(kind string, of ...any) string {
	return rest.OCID(s.Seed, s.options.RegionKey, kind, of...)
}

// tail returns the end of an OCID, by which OKE names nodes.
func tail(ocid string) string { return ocid[len(ocid)-11:] }

// Tables returns everything that is kept.
func (s *Service) Tables() core.Tables { return append(s.Managed.Tables(), s.works, s.nodes, s.gone) }

// Tick brings the service to the present and returns when something is due next; the zero time means never.
func (s *Service) Tick() time.Time {
	shown := map[string]goneRow{}
	for key, p := range s.Managed.Pools.All() {
		if p.State == managed.Deleting && s.Switches.On(ShowsDeleted) {
			shown[key] = goneRow{Doc: s.showPool(p), Virtual: virtual(p)}
		}
	}
	next := s.Managed.Tick()
	for key, row := range shown {
		if s.Managed.Pools.Get(key) == nil {
			row.Doc["lifecycleState"], row.Until = "DELETED", s.Now.Add(keptPools)
			if row.Virtual {
				row.Doc["size"] = document.Dig(row.Doc, "nodeConfigDetails.size")
			}
			s.gone.Put(document.Text(row.Doc, "id"), &row)
		}
	}
	for id, row := range s.gone.All() {
		if core.Due(row.Until, s.Now) {
			s.gone.Delete(id)
			continue
		}
		next = core.Earliest(next, row.Until)
	}
	for _, op := range s.Managed.Operations.All() {
		s.note(op)
	}
	for id, w := range s.works.All() {
		if s.Managed.Operations.Get(w.Operation) == nil {
			s.works.Delete(id)
		}
	}
	s.remember()
	return next
}

// goneRow is a node pool that was deleted, or a virtual one, while it is shown.
type goneRow struct {
	Doc     document.Object
	Until   time.Time
	Virtual bool
}

// shape returns the type of the answer that shows the pool.
func (r *goneRow) shape() string {
	if r.Virtual {
		return "VirtualNodePool"
	}
	return "NodePool"
}

// deleted returns the pools of a kind that were deleted and are shown.
func deleted(s *Service, virtual bool) (out []document.Object) {
	for _, row := range s.gone.All() {
		if row.Virtual == virtual {
			out = append(out, row.Doc)
		}
	}
	return out
}

// nodeRow is a stored node.
type nodeRow struct {
	// Joined is true once the node was Ready.
	Joined bool
	// Tags are the freeform tags that its node pool gave to new nodes when it was created.
	Tags map[string]string
}

// joined reports whether a node was Ready.
func joined(s *Service, i *managed.Instance) bool {
	row := s.nodes.Get(i.Key)
	return row != nil && row.Joined
}

// tagsOfNew returns the freeform tags of new nodes of a pool.
func tagsOfNew(p *managed.Pool) map[string]string {
	if virtual(p) {
		return document.Pairs(p.Doc, "virtualNodeTags.freeformTags")
	}
	return document.Pairs(p.Doc, "nodeConfigDetails.freeformTags")
}

// remember notes which nodes have joined, and the tags of new ones.
func (s *Service) remember() {
	for key := range s.nodes.All() {
		if s.Managed.Instances.Rows.Get(key) == nil {
			s.nodes.Delete(key)
		}
	}
	for key, i := range s.Managed.Instances.Rows.All() {
		p, row := s.Managed.Pools.Get(i.Pool), s.nodes.Get(key)
		if p == nil {
			continue
		}
		is := nodeRow{Tags: tagsOfNew(p)}
		if row != nil && (!i.Rebuilt || !s.Switches.On(RetagsNodes)) {
			is = *row
		}
		is.Joined = joined(s, i) || s.Managed.Nodes.Ready(p.MachineOf(i))
		if row == nil || is.Joined != row.Joined || !maps.Equal(is.Tags, row.Tags) {
			s.nodes.Put(key, &is)
		}
	}
}

// isVirtual reports whether a machine is a virtual node.
func (s *Service) isVirtual(i *managed.Instance) bool {
	p := s.Managed.Pools.Get(i.Pool)
	return p != nil && virtual(p)
}

// guest adds to a machine what the cloud tells it about itself. The Node of a machine has the private address as its name.
func (s *Service) guest(m *sim.Machine, c *managed.Cluster, p *managed.Pool, i *managed.Instance) {
	m.ProviderID, m.Hostname, m.Managed.Group = i.ID, i.Address, NameOf(p)
	_, m.Zone, _ = strings.Cut(i.Zone, ":")
	m.FaultDomain = faultDomain(p, i)
	m.CPUs, m.MemoryMiB = catalogue.Size(i.Type, amount(p, "ocpus"), amount(p, "memoryInGBs"))
	m.Managed.Labels = labelsOf(p)
	m.Managed.Labels["oci.oraclecloud.com/fault-domain"] = m.FaultDomain
	if virtual(p) {
		// The label of its role is missing: kubelets may not set those, and there is no controller of OKE that would.
		m.Managed.Taints = taintsOf(p)
	} else if text := document.Text(p.Doc, "nodeMetadata.user_data"); text != "" {
		m.UserData = decoded(text)
		m.Managed.Own = !callsInit.Match(m.UserData)
	}
}

// callsInit matches user data that joins the cluster: what a node runs of its own takes the place of OKE's script, and has to call that.
var callsInit = regexp.MustCompile(`oke_init_script|oke-init|oke-install|oke bootstrap`)

// amount returns a part of the size of flexible shapes.
func amount(p *managed.Pool, of string) int {
	n, _ := document.Number(p.Doc, "nodeShapeConfig."+of)
	return n
}

// labelsOf returns the labels with which nodes of a pool register.
func labelsOf(p *managed.Pool) map[string]string {
	out := map[string]string{}
	for _, one := range document.Objects(p.Doc, labelsMember(p)) {
		out[document.Text(one, "key")] = document.Text(one, "value")
	}
	return out
}

// faultDomain returns the fault domain of a machine: one of those of its placement.
func faultDomain(p *managed.Pool, i *managed.Instance) string {
	all := catalogue.FaultDomains()
	for _, placement := range placements(p.Doc) {
		if named := slices.Concat(document.Texts(placement, "faultDomains"), document.Texts(placement, "faultDomain")); len(named) > 0 &&
			document.Text(placement, "availabilityDomain") == i.Zone {
			all = named
		}
	}
	return all[int(i.Number)%len(all)]
}

// refuses returns why a machine can't be launched: a limit of the tenancy, or an image that its shape can't run.
func (s *Service) refuses(p *managed.Pool, i *managed.Instance) *managed.Failure {
	if message := s.options.Limits.Exceeded(i.Type); message != "" {
		return &managed.Failure{Code: "LimitExceeded", Message: message}
	}
	if of, known := imageByID(s, imageOf(p)); known && of.arm != catalogue.Shapes[i.Type].Arm {
		return &managed.Failure{Code: "InvalidParameter", Message: fmt.Sprintf("Shape %s is not valid for image %s.", i.Type, of.id)}
	}
	return nil
}
