package agentpool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/agentpool/body"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/upgrade"
)

// desired is the desired state of the agent pool, compared with the existing one.
type desired struct {
	// properties are the agent pool's, with the version of the next step, and the VM size that goes with it.
	properties body.Properties
	upgrade    upgrade.Step
	// next is the configuration that the next step leads to, launched the one that the agent pool has now.
	next, launched configuration
	// ahead is true if the agent pool runs a newer version than the desired one.
	ahead bool
	// modePending is true if the agent pool has no machine, and AKS therefore rejects the desired mode.
	modePending bool
	// image is the oldest node image that machines may have; empty leaves node images to AKS.
	image nodeImage
	// caveat warns the user of a size that AKS may reject or has rejected; nil if there is nothing to report.
	caveat *pool.Cause
	// drift lists the differing properties that AKS changes in place, unchangeable those that it refuses to change.
	drift, unchangeable []string
}

// desired translates the specification and compares it with the existing agent pool.
func (r reader) desired() (desired, error) {
	read := r.memory.read
	properties, version, err := r.requested()
	if err != nil {
		return desired{launched: read.asIs()}, err
	}
	want := desired{properties: properties}
	if want.image, err = r.t.requestedImage(properties); err != nil {
		return desired{launched: read.asIs()}, err
	}
	want.recordTags(read.pool)
	var controlPlane, current upgrade.Version
	if read.cluster != nil {
		controlPlane = reported(read.cluster.version)
	}
	if read.pool != nil {
		current = read.pool.version()
	}
	want.upgrade = upgrade.Of(current, version, controlPlane)
	want.keepSize(r.t, r.memory.resize, read.pool, r.now)
	want.ahead = version.Known() && version.Compare(current) < 0
	want.step(read.pool, current)
	want.deferMode(read.pool)
	want.next = configuration{version: want.upgrade.Next, rolls: rolling(properties, properties)}
	if read.pool != nil {
		want.launched = configuration{version: current, rolls: rolling(properties, read.pool.properties), oldest: want.image}
		want.launched = want.launched.on(nodeImage(read.pool.text(body.NodeImage)))
		want.compare(r.t, read.pool)
	}
	return want, nil
}

// requested returns the properties and the version that the specification and the MachinePool request.
func (r reader) requested() (body.Properties, upgrade.Version, error) {
	properties, err := r.t.properties()
	if err != nil {
		return nil, upgrade.Version{}, err
	}
	if err := r.checkOwn(properties); err != nil {
		return nil, upgrade.Version{}, err
	}
	version, err := versionOf(fieldVersion, r.t.KubernetesVersion)
	return properties, version, err
}

// asIs returns the configuration that the agent pool has, as far as that is known without a specification.
func (r clusterRead) asIs() configuration {
	if r.pool == nil {
		return configuration{}
	}
	named := body.Properties{body.VMSize: nil}
	return configuration{version: r.pool.version(), rolls: rolling(named, r.pool.properties)}
}

// step puts the version of the next step in its place. AKS changes the VM size by itself or the version, never both at once: the version
// goes first.
func (w *desired) step(is *agentPool, current upgrade.Version) {
	switch {
	case !w.upgrade.Next.Known():
	case is == nil || w.upgrade.Next != current:
		w.properties[body.OrchestratorVersion] = w.upgrade.Next.String()
	default:
		w.properties[body.OrchestratorVersion] = is.text(body.OrchestratorVersion)
	}
	if size, named := w.properties[body.VMSize]; named && is != nil && w.upgrade.Next != current && size != "" {
		w.properties[body.VMSize] = is.properties[body.VMSize]
	}
}

// deferMode keeps the mode of an agent pool without machines that is to become a System pool: AKS keeps a node in every System pool, and
// would refuse all other changes of the same request too.
func (w *desired) deferMode(is *agentPool) {
	if is == nil || is.count() > 0 || w.properties[body.Mode] != modeSystem || strings.EqualFold(is.text(body.Mode), modeSystem) {
		return
	}
	if on, _ := w.properties[body.EnableAutoScaling].(bool); on {
		return // AKS brings the count within the bounds that come with it
	}
	w.modePending, w.properties[body.Mode] = true, is.properties[body.Mode]
}

// compare fills in what differs between the wanted properties and the agent pool.
func (w *desired) compare(t target, is *agentPool) {
	for _, property := range body.Differing(w.properties, is.properties) {
		field, effect := t.field(property), body.Fields.Of(property).Effect
		switch {
		case property == body.Count:
		case effect == fields.InPlace && !slices.Contains(w.drift, field):
			w.drift = append(w.drift, field)
		case effect == fields.Fixed && !slices.Contains(w.unchangeable, field):
			w.unchangeable = append(w.unchangeable, field)
		}
	}
}

// rolling returns the values that properties have among those whose change rolls and that the specification names; the version apart.
func rolling(named, of body.Properties) map[string]any {
	out := map[string]any{}
	for name := range named {
		if body.Fields.Of(name).Effect != fields.Rolls || name == body.OrchestratorVersion {
			continue
		}
		value := of[name]
		if text, ok := value.(string); ok {
			value = strings.ToLower(text)
		}
		out[name] = value
	}
	return out
}

// checkOwn refuses a manifest that sets otherwise what Muster sets from the MachinePool, with both values. The count is a step's own.
func (r reader) checkOwn(properties body.Properties) error {
	if r.t.Spec.Manifest == nil {
		return nil
	}
	must := strings.TrimPrefix(r.t.KubernetesVersion, "v")
	if version, ok := properties[body.OrchestratorVersion].(string); ok && must != "" && must != version {
		return incompatible(r.t.field(body.OrchestratorVersion), version, must)
	}
	count, named := properties[body.Count].(float64)
	delete(properties, body.Count)
	if want := r.t.Spec.Replicas; named && want != nil && int32(count) != *want {
		return incompatible(r.t.field(body.Count), fmt.Sprint(count), fmt.Sprintf("%d, spec.replicas of the MachinePool", *want))
	}
	return nil
}

// incompatible is the refusal of a value that Muster must set and that the user set differently.
func incompatible(field, found, must string) error {
	return cloud.Invalidf(field, "incompatible value: found %s, and Muster must set it to %s", found, must)
}

// observeCapacity puts what each machine offers into an observation. If the VM size of an agent pool that exists can't be looked up that
// stays unknown, and nothing else waits for it.
func (r reader) observeCapacity(ctx context.Context, want desired, out *pool.Observed) (err error) {
	out.Capacity, err = r.capacity(ctx, want)
	if err == nil || cloud.KindOf(err) == cloud.Invalid || r.memory.read.pool == nil {
		return err
	}
	if failed := r.memory.tolerance.Tolerate(r.now, err); failed != nil {
		return failed
	}
	out.Issues = append(out.Issues, driverkit.CauseOf(err))
	return nil
}

// capacity returns what each machine offers; nil where the machines of an agent pool are of several sizes. It is an error if the location
// has no such size.
func (r reader) capacity(ctx context.Context, want desired) (*pool.NodeCapacity, error) {
	size, _ := want.properties[body.VMSize].(string)
	if size == "" {
		return nil, nil
	}
	sku, err := r.c.SKU(ctx, r.t.cluster.View.Location, size, r.now)
	if err != nil {
		return nil, err
	}
	if sku == nil {
		return nil, cloud.Invalidf(r.t.field(body.VMSize), "VM size %q is not offered in location %s to this subscription", size,
			r.t.cluster.View.Location)
	}
	pods := defaultPods
	if maxPods, ok := want.properties["maxPods"].(float64); ok {
		pods = int(maxPods)
	}
	return model.CapacityOf(sku, pods, want.properties["osType"] == "Windows"), nil
}

// defaultPods is the least number of pods that AKS gives a node by itself: that of Azure CNI without overlay.
const defaultPods = 30

// noCluster is why no agent pool can exist without its managed cluster.
func (t target) noCluster() error {
	return &cloud.Error{Kind: cloud.Conflict, Code: "NoManagedCluster", Message: fmt.Sprintf("managed cluster %s does not exist",
		t.cluster.Name)}
}
