package scaleway

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
)

// poolBody is a request about a pool. A member that is nil changes nothing.
type poolBody struct {
	Name             string             `json:"name"`
	NodeType         string             `json:"node_type"`
	Version          string             `json:"version"`
	Autoscaling      *bool              `json:"autoscaling"`
	Size             *uint32            `json:"size"`
	MinSize          *uint32            `json:"min_size"`
	MaxSize          *uint32            `json:"max_size"`
	ContainerRuntime string             `json:"container_runtime"`
	Autohealing      *bool              `json:"autohealing"`
	Tags             *[]string          `json:"tags"`
	PlacementGroupID *string            `json:"placement_group_id"`
	KubeletArgs      *map[string]string `json:"kubelet_args"`
	UpgradePolicy    struct {
		MaxUnavailable *uint32 `json:"max_unavailable"`
		MaxSurge       *uint32 `json:"max_surge"`
	} `json:"upgrade_policy"`
	Zone             string             `json:"zone"`
	RootVolumeType   string             `json:"root_volume_type"`
	RootVolumeSize   *uint64            `json:"root_volume_size"`
	PublicIPDisabled bool               `json:"public_ip_disabled"`
	SecurityGroupID  string             `json:"security_group_id"`
	Labels           *map[string]string `json:"labels"`
	Taints           *[]sim.Taint       `json:"taints"`
	StartupTaints    *[]sim.Taint       `json:"startup_taints"`
}

// volumeSize is the size in bytes of a root volume for which the request names none.
const volumeSize = 20_000_000_000

// addPool creates a pool that a request asks for. The first pool of a cluster makes its control plane start.
func addPool(w *region, c *managed.Cluster, body poolBody) error {
	next, err := newSpec(w, c, body)
	if err != nil {
		return err
	}
	first := len(w.service.PoolsOf(c)) == 0
	if first {
		w.service.BeginCluster(c, managed.Creating, lifeControlPlane)
	}
	p := &managed.Pool{Name: body.Name, Spec: next}
	w.service.CreatePool(c, p)
	if first {
		p.Next = c.Until.Add(w.Life(w.drawn(firsts, "first", idOf(p))))
	}
	return nil
}

// newSpec returns the specification of a new pool.
func newSpec(w *region, c *managed.Cluster, body poolBody) (managed.Spec, error) {
	kind, zone := normalized(body.NodeType), cmp.Or(body.Zone, clusterText(c, "region")+"-1")
	if err := checkNew(w, c, body, kind, zone); err != nil {
		return managed.Spec{}, err
	}
	volume := cmp.Or(body.RootVolumeType, "default_volume_type")
	if volume == "default_volume_type" {
		if volume = "sbs_5k"; nodeTypes[kind].local {
			volume = "l_ssd"
		}
	}
	id := w.Seed.UUID("pool", c.Key, w.NextNumber("pool"))
	spec := managed.Spec{
		Version: c.Goal, Type: kind, Zones: []string{zone}, Min: 1, Max: int(*body.Size), Missing: "1", Surge: "0", Labels: map[string]string{},
		Drain: managed.Drain{Limit: lifeDrain, Late: managed.LateGoes},
		Doc: document.Object{
			"id": id, "zone": zone, "root_volume_type": volume, "root_volume_size": uint64(volumeSize), "tags": []any{}, "autohealing": false,
			"public_ip_disabled": body.PublicIPDisabled, "container_runtime": cmp.Or(body.ContainerRuntime, "containerd"),
			"placement_group_id": nil, "kubelet_args": document.Object{}, "startup_taints": []any{},
			"security_group_id": w.Seed.UUID("security group", zone),
		},
	}
	if body.PlacementGroupID != nil {
		spec.Doc["placement_group_id"] = *body.PlacementGroupID
	}
	if body.RootVolumeSize != nil {
		spec.Doc["root_volume_size"] = *body.RootVolumeSize
	}
	if w.Switches.On(WaitsForDrains) {
		spec.Drain.Limit = endless
	}
	body.mark(&spec)
	return spec, change(w, c, &managed.Pool{Cluster: c.Key}, &spec, body)
}

// checkNew refuses a pool that can't be created.
func checkNew(w *region, c *managed.Cluster, body poolBody, kind, zone string) error {
	t, known := nodeTypes[kind]
	for _, rule := range []struct {
		broken                 bool
		argument, reason, help string
	}{
		{!nameOf.MatchString(body.Name), "name", "constraint", "a DNS label of at most 100 characters is expected"},
		{w.service.Pools.Get(c.Key+"/"+body.Name) != nil, "name", "constraint", "pool name must be unique across the cluster"},
		{!known || t.small, "node_type", "constraint", fmt.Sprintf("node type %q does not exist or is too small", body.NodeType)},
		{kind == external && kapsule(c), "node_type", "constraint", "external nodes need a multicloud cluster"},
		{body.Size == nil, "size", "required", ""},
		{!slices.Contains(Zones(), zone) || regionOf(zone) != clusterText(c, "region") && kapsule(c), "zone", "constraint",
			fmt.Sprintf("zone %q is not available", zone)},
	} {
		if rule.broken {
			return invalid(rule.argument, rule.reason, rule.help)
		}
	}
	return nil
}

// kapsule reports whether a cluster has Scaleway's machines of its region alone.
func kapsule(c *managed.Cluster) bool { return clusterText(c, "type")[0] == 'k' }

// mark brings labels and taints of a request into a specification.
func (b poolBody) mark(next *managed.Spec) {
	if b.Labels != nil {
		next.Labels = document.Overlaid(nil, *b.Labels)
	}
	if b.Taints != nil {
		next.Taints = *b.Taints
	}
	if b.StartupTaints != nil {
		next.Doc["startup_taints"] = document.Copied(listOf(*b.StartupTaints))
	}
}

// change brings what a request says into the specification of a pool, and refuses what is not possible.
func change(w *region, c *managed.Cluster, p *managed.Pool, next *managed.Spec, body poolBody) error {
	next.Min, next.Max = orCurrent(next.Min, body.MinSize), orCurrent(next.Max, body.MaxSize)
	if body.Autoscaling != nil {
		next.Autoscaled = *body.Autoscaling
	}
	ignored := next.Type == external || w.Switches.On(IgnoresSize) && next.Autoscaled && p.Autoscaled
	if !ignored {
		next.Count = orCurrent(next.Count, body.Size)
	}
	next.Count = w.bounded(next)
	next.Surge = strconv.Itoa(orCurrent(managed.Share(next.Surge, 0), body.UpgradePolicy.MaxSurge))
	next.Missing = strconv.Itoa(orCurrent(managed.Share(next.Missing, 0), body.UpgradePolicy.MaxUnavailable))
	body.keep(next.Doc)
	switch {
	case next.Autoscaled && (next.Min > next.Max || next.Max == 0):
		return invalid("max_size", "constraint", fmt.Sprintf("bounds %d and %d are not possible", next.Min, next.Max))
	case next.Surge == "0" && next.Missing == "0" && !w.Switches.On(TakesZeroPolicy):
		return invalid("upgrade_policy", "constraint", "max_unavailable and max_surge can't both be 0")
	}
	return room(w, c, p, next)
}

// bounded returns the size of a pool within the bounds of its autoscaler.
func (w *region) bounded(next *managed.Spec) int {
	if !next.Autoscaled || w.Switches.On(LeavesSize) {
		return next.Count
	}
	return min(max(next.Count, next.Min), next.Max)
}

// orCurrent returns a number that a request names, otherwise the one that there is.
func orCurrent(is int, value *uint32) int {
	if value == nil {
		return is
	}
	return int(*value)
}

// keep brings the members that the service keeps as they are into what it keeps of a pool.
func (b poolBody) keep(doc document.Object) {
	if b.Autohealing != nil {
		doc["autohealing"] = *b.Autohealing
	}
	if b.Tags != nil {
		doc["tags"] = document.List(*b.Tags)
	}
	if b.KubeletArgs != nil {
		doc["kubelet_args"] = document.OfStrings(*b.KubeletArgs)
	}
	if b.SecurityGroupID != "" {
		doc["security_group_id"] = b.SecurityGroupID
	}
}

// room refuses a pool that makes its cluster larger than its type allows, or that exceeds a quota.
func room(w *region, c *managed.Cluster, p *managed.Pool, next *managed.Spec) error {
	more := next.Count - p.Count
	if limit := maxNodes(clusterText(c, "type")); more > 0 && w.size(c)+more > limit {
		if w.Switches.On(InvalidSize) {
			return invalid("size", "constraint", fmt.Sprintf("a cluster of this type has %d nodes at most", limit))
		}
		return quotaExceeded("k8s_nodes", limit, w.size(c))
	}
	quota, bounded := w.options.Quota[next.Type]
	used := 0
	for _, one := range w.service.Pools.All() {
		if one.Type == next.Type {
			used += one.Count
		}
	}
	if bounded && more > 0 && used+more > quota {
		return quotaExceeded("instances_"+next.Type, quota, used)
	}
	return nil
}
