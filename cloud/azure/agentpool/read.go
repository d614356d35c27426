package agentpool

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud/azure/agentpool/body"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// clusterRead is a managed cluster with one agent pool and its machines, as they were read.
type clusterRead struct {
	at   time.Time
	skew time.Duration
	// cluster is nil if the managed cluster does not exist, pool if the agent pool does not.
	cluster *managedCluster
	pool    *agentPool
	// named is the agent pool that the object names, where that is another one.
	named driverkit.NamedGroup
	// machines are those of the agent pool, as they were at machinesAt.
	machines   []machine
	machinesAt time.Time
	// createdWithCluster is true if the agent pool lacks an owner tag and was created for the object with the managed cluster.
	createdWithCluster bool
}

// fresh reports whether everything was read at the time or later.
func (r clusterRead) fresh(at time.Time) bool {
	return !r.at.Before(at) && (r.machinesAt.IsZero() || !r.machinesAt.Before(at))
}

// managedCluster holds the fields of a managed cluster that the driver reads.
type managedCluster struct {
	state, version, nodeGroup string
	// systemPools is the number of its System pools.
	systemPools int
	// tags are its own: it carries those of the ecosystem's provider, which agent pools need not.
	tags map[string]*string
}

// agentPool is an agent pool's document.
type agentPool struct{ properties body.Properties }

func (a *agentPool) text(name string) string {
	text, _ := a.properties[name].(string)
	return text
}

// tag returns the value of a tag; empty without one.
func (a *agentPool) tag(name string) string {
	tags, _ := a.properties[body.Tags].(map[string]any)
	for key, value := range tags {
		if strings.EqualFold(key, name) {
			text, _ := value.(string)
			return text
		}
	}
	return ""
}

// etag returns the tag of this version of the agent pool, for conditions. AKS does not show it in every version of its API.
func (a *agentPool) etag() string { return a.text("eTag") }

// progress are the properties that tell how far an operation is.
var progress = []string{"currentOrchestratorVersion", "status", "virtualMachineNodesStatus"}

// same reports whether two reads show one agent pool, and no change of it but the progress of an operation; nil is one that does not exist.
func (a *agentPool) same(o *agentPool) bool {
	if a == nil || o == nil {
		return a == nil && o == nil
	}
	lasting := func(p *agentPool) map[string]any {
		out := maps.Clone(map[string]any(p.properties))
		maps.DeleteFunc(out, func(name string, _ any) bool { return slices.Contains(progress, name) })
		return out
	}
	return reflect.DeepEqual(lasting(a), lasting(o))
}

// state returns the provisioning state.
func (a *agentPool) state() string { return a.text("provisioningState") }

// deleting reports whether AKS is deleting the agent pool.
func (a *agentPool) deleting() bool { return strings.EqualFold(a.state(), stateDeleting) }

// stopped reports whether the agent pool was stopped: its machines are deallocated.
func (a *agentPool) stopped() bool {
	power, _ := a.properties["powerState"].(map[string]any)
	code, _ := power["code"].(string)
	return strings.EqualFold(code, "Stopped")
}

// keepsMachines reports whether AKS deallocates machines that it does not need, instead of deleting them.
func (a *agentPool) keepsMachines() bool {
	return strings.EqualFold(a.text(body.ScaleDownMode), modeDeallocate) || a.stopped()
}

// count returns the number of machines that AKS keeps.
func (a *agentPool) count() int { return a.number(body.Count) }

// number returns a property that is a number; zero without it.
func (a *agentPool) number(name string) int {
	n, _ := a.properties[name].(float64)
	return int(n)
}

// surge returns how many machines AKS adds while it replaces those of the agent pool; a percentage rounds up. AKS adds no spot machines.
func (a *agentPool) surge() int {
	if strings.EqualFold(a.text("scaleSetPriority"), "Spot") {
		return 0
	}
	settings, _ := a.properties["upgradeSettings"].(map[string]any)
	text, ok := settings["maxSurge"].(string)
	if !ok || text == "" {
		text = aksv1.DefaultMaxSurge
	}
	n, percent, ok := aksv1.ParseShare(text)
	if !ok {
		return 0
	}
	return pool.IntOrPercent{Value: n, Percent: percent}.Up(a.count())
}

// autoscaled reports whether AKS's own autoscaler sizes the agent pool.
func (a *agentPool) autoscaled() bool {
	on, _ := a.properties[body.EnableAutoScaling].(bool)
	return on
}

// gaveUp reports whether the last operation ended without success.
func (a *agentPool) gaveUp() bool {
	return strings.EqualFold(a.state(), stateFailed) || strings.EqualFold(a.state(), stateCanceled)
}

// pass is one call for one pool.
type pass struct {
	c      *session.Session
	t      target
	now    time.Time
	memory *memory
}

// reader reads one pool for one call of Observe or Start, as far as what is known of it is out of date.
type reader struct{ *pass }

// read reads the managed cluster, the agent pool and its machines, unless the last read is new enough for the pass.
func (r reader) read(ctx context.Context) error {
	if driverkit.Reusable(r.memory.read.at, r.now, r.t.Cache.MaxAge) {
		return nil
	}
	return r.readAgain(ctx)
}

func (r reader) readAgain(ctx context.Context) error {
	all, at, err := r.c.ManagedCluster(ctx, r.t.clusterID(), r.t.Cache.MaxAge)
	if err != nil {
		return err
	}
	read := clusterRead{at: at, skew: all.Skew, cluster: clusterOf(all), pool: poolOf(all, r.t.name)}
	if read.pool == nil {
		r.memory.setMade = time.Time{}
		if read.named, err = r.readNamed(ctx); err != nil {
			return err
		}
		r.memory.read = read
		if err = driverkit.NotYetShown("agent pool "+r.t.name, r.memory.made, r.now, visibleWithin); err != nil {
			r.memory.read = clusterRead{}
		}
		return err
	}
	list := machineReader{c: r.c, now: r.now, skew: read.skew, pool: r.t.name, group: read.cluster.nodeGroup}
	if r.t.ownership(read).Claim.Owned {
		r.memory.note(read.pool, r.now)
		if !r.memory.machines.holds(r.t, read.pool, r.now) {
			err = r.memory.readMachines(ctx, list, read.pool)
		}
		read.machines, read.machinesAt = r.memory.machines.found, r.memory.machines.at
	} else {
		read.createdWithCluster, err = r.createdWithCluster(ctx, read, list)
	}
	if err != nil {
		return err
	}
	r.memory.read, r.memory.made = read, time.Time{}
	members, _ := read.members()
	r.memory.excess.note(r.busy() == nil && r.memory.staying(members) > read.pool.count(), r.now)
	return nil
}

// createdWithCluster reports whether an agent pool without an owner tag was created for the object: the object is older than the scale set
// of the agent pool, and no controller has written the agent pool's ID to it. While a managed cluster is being created AKS takes no other
// request, so that what appears then was in the request for the managed cluster. AKS does not return when the managed cluster was created.
// The existing provider tags those that it creates for AzureManagedMachinePools; those of manifests have no such tags.
func (r reader) createdWithCluster(ctx context.Context, read clusterRead, list machineReader) (bool, error) {
	if read.pool.tag(model.TagOwner) != "" || r.t.GroupID != "" || r.t.Spec.Created.IsZero() || r.t.Deleting {
		return false, nil
	}
	if r.t.Spec.Manifest == nil && !model.OfCluster(read.cluster.tags, r.t.Owner.Cluster) {
		return false, nil
	}
	if r.memory.setMade.IsZero() {
		set, err := list.findScaleSet(ctx)
		if err != nil || set == nil || set.Properties == nil {
			return false, err
		}
		r.memory.setMade = session.OurTime(set.Properties.TimeCreated, read.skew)
	}
	return !r.memory.setMade.Before(r.t.Spec.Created), nil
}

// readNamed reads the agent pool that the object names, where that is another than the pool's own, which does not exist: another tool may
// have managed the pool before.
func (r reader) readNamed(ctx context.Context) (driverkit.NamedGroup, error) {
	out := driverkit.NamedGroup{ID: r.t.GroupID}
	cluster, name := splitGroupID(r.t.GroupID)
	if name == "" || strings.EqualFold(r.t.GroupID, r.t.groupID()) {
		return out, nil
	}
	all, _, err := r.c.ManagedCluster(ctx, cluster, r.t.Cache.MaxAge)
	if err != nil {
		return out, err
	}
	is := poolOf(all, name)
	if is == nil {
		return out, nil
	}
	if claim := r.t.Claim(model.Spelling, is.tag); !claim.Owned {
		label := fmt.Sprintf("agent pool %s of managed cluster %s", name, azurev1.SegmentOf(cluster, "managedClusters"))
		out.Conflict = driverkit.NamedConflict(label, name, claim)
	}
	return out, nil
}

func clusterOf(all session.ManagedCluster) *managedCluster {
	if all.Properties == nil {
		return nil
	}
	out := &managedCluster{tags: all.Tags}
	out.state, _ = all.Properties["provisioningState"].(string)
	out.nodeGroup, _ = all.Properties["nodeResourceGroup"].(string)
	if out.version, _ = all.Properties["currentKubernetesVersion"].(string); out.version == "" {
		out.version, _ = all.Properties["kubernetesVersion"].(string)
	}
	for _, is := range all.Pools {
		if mode, _ := is[body.Mode].(string); mode == modeSystem {
			out.systemPools++
		}
	}
	return out
}

func poolOf(all session.ManagedCluster, name string) *agentPool {
	is, ok := all.Pools[strings.ToLower(name)]
	if !ok {
		return nil
	}
	return &agentPool{properties: body.Flat(is)}
}
