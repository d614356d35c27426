package world

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/ownership"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/test/explore/oracle"
)

const (
	// restLeast is how long nothing must have been written for all to be quiet: longer than what only Muster changes is
	// taken as read, and than what everybody looks at again.
	restLeast = 11 * time.Minute
	// quietSpells of quietSpell are looked at after that: nothing is written in them, and all of them say the same. In each
	// everybody looks at the cloud once.
	quietSpells, quietSpell = 2, 130 * time.Second
	// restMost is how long it may take until all is quiet.
	restMost = 2 * time.Hour
)

// peace ends all faults and brings the pool into a shape that can be followed.
func (w *World) peace() {
	w.calm()
	w.meeting = nil
	w.workload.uncordon()
	for _, p := range w.processes {
		p.crash, p.lagging, p.deafUntil = 0, 0, time.Time{}
	}
	w.own()
	w.dropForeign()
	w.dropCopy()
	w.giveUpAdoption()
	if w.scenario.Managed {
		w.appease()
	}
	if w.scenario.InAzure() {
		w.appeaseAzure()
	}
	if w.bootstrap() == nil {
		w.rotate()
	}
	w.pause(false)
	w.annotate(0, rolloutAnnotation, "")
	w.annotate(1, rolloutAnnotation, "")
	w.editInfra(w.mend)
	w.within()
	if n := w.account.nodegroup(); w.scenario.Managed && (n == nil || n.Status != "ACTIVE") {
		w.editPool(func(mp *clusterv1.MachinePool) { mp.Spec.Template.Spec.Version = "v" + minor(w.minor) + ".0" }) // new groups are of no other version
	}
	w.trace.add("event", "peace")
}

// mend takes a template back whose machines never join.
func (w *World) mend(o *infra) {
	if t := o.template(); t != nil && t.InstanceType == badType {
		o.setTemplate(w.launchTemplate())
	}
	if o.azure != nil && o.azure.Spec.Template.VMSize == badSize {
		o.azure.Spec.Template = w.azureTemplate()
	}
	if o.agents != nil && o.agents.spec().SKU == badSize {
		o.agents.edit(func(s *agentSpec) { s.SKU = w.agentSpec().SKU })
	}
}

// appeaseAzure takes back what keeps Azure from bringing machines.
func (w *World) appeaseAzure() {
	w.must(w.account.azure.ClearQuotas(), "take the quotas away")
	if w.scenario.onAKS() {
		w.tellAKS()
	}
}

// rest waits until nothing is written any more.
func (w *World) rest() {
	began := time.Now()
	quiet := began
	for time.Since(began) < restMost && !w.gone {
		w.until(quiet.Add(restLeast))
		switch {
		case w.written.After(quiet):
			quiet = w.written
		case w.unjoined() || w.unrolled() || w.busy():
			quiet = time.Now()
		default:
			return
		}
	}
}

// unjoined reports whether a machine is still to join.
func (w *World) unjoined() bool {
	if w.scenario.onAKS() {
		return w.unjoinedAgents() && time.Since(w.trace.began) < w.scenario.Ends+restMost/2
	}
	members := 0
	if g := w.account.kept(); g != nil {
		members = len(g.Members)
	} else if s := w.account.scaleSet(); s != nil {
		members = len(s.Machines)
	}
	joined, _ := w.workload.counts()
	return joined < members && time.Since(w.trace.began) < w.scenario.Ends+restMost/2
}

// unrolled reports whether a machine is still to be replaced.
func (w *World) unrolled() bool {
	stale, old := w.left()
	return stale+old > 0 && time.Since(w.trace.began) < w.scenario.Ends+restMost
}

// settledDown looks at what is there once all is quiet, and at a while more.
func (w *World) settledDown() {
	want, is := w.want(), w.is()
	if size, err := strconv.Atoi(is["size"]); err == nil && want["max"] != "" && w.external() && strconv.Itoa(size) > want["max"] && strings.Contains(w.says(), "MaxSizePending") {
		delete(want, "max")
		want["ready"] = "False" // the autoscaler has to lower it first, which the condition says
	}
	if least, err := strconv.Atoi(want["min"]); err == nil && w.scenario.Managed && w.external() && strconv.Itoa(least) > is["size"] {
		delete(want, "min") // EKS takes no minimum above the size, which the autoscaler has to raise first
	}
	w.leaveOthersTags(want)
	if w.scenario.Denied != "" {
		delete(want, "exposed") // which machines are protected may be what can't be read
		delete(want, "ready")   // a part that is unknown may be reported there: what is there is counted all the same
	}
	w.trace.add("rest", "%s", w.says())
	w.blameAll("as desired", oracle.AsDesired(want, is))
	var spells []oracle.Pass
	w.since()
	for range quietSpells {
		w.until(time.Now().Add(quietSpell))
		spells = append(spells, oracle.Pass{Writes: w.since(), Said: w.says()})
	}
	w.blameAll("quiet", oracle.Quiet(spells))
}

// says is what both objects tell, with times left out.
func (w *World) says() string {
	mp, o := w.objects(w.user)
	var text []string
	if o != nil {
		text = append(text, w.scenario.kind()+" "+o.status().State)
		for _, c := range o.status().Conditions {
			text = append(text, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
		}
	}
	if mp != nil {
		text = append(text, "MachinePool "+mp.Status.Phase)
		for _, c := range mp.Status.Conditions {
			text = append(text, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
		}
	}
	return strings.Join(text, "; ")
}

// want is what the objects ask for, in words that nothing of the driver was used for.
func (w *World) want() map[string]string {
	mp, o := w.objects(w.user)
	if mp == nil || o == nil {
		return nil
	}
	if w.scenario.Managed {
		return w.wantManaged(mp, o)
	}
	if w.scenario.onAKS() {
		return w.wantAgents(mp, o)
	}
	if w.scenario.onAzure() {
		return w.wantAzure(mp, o)
	}
	s := &o.group.Spec
	want := map[string]string{
		"group": "1", "min": itoa(&s.MinSize), "max": itoa(&s.MaxSize), "cooldown": "300", "warmup": "300",
		"rebalance": strconv.FormatBool(s.CapacityRebalance), "type": s.AWSLaunchTemplate.InstanceType, "data": w.dataPrint(w.bootstrap()),
		"owner": w.owner().ID, "team": s.AdditionalTags["team"], "stage": s.AdditionalTags["stage"], "cluster": clusterName,
		"suspended": strings.Join(s.SuspendProcesses.Suspended(), ","), "cordoned": "0", "templates": "1",
		"stale": "0", "old": "0", "aside": "0", "root": "0", "spare versions": "0", "default": "in use", "mixed": strconv.FormatBool(s.MixedInstancesPolicy != nil), "ready": "True", "pool": "Running",
	}
	w.wantVersions(o, want)
	size := itoa(ptr.To(ptr.Deref(mp.Spec.Replicas, 1)))
	for _, name := range []string{"size", "in service", "joined", "ready nodes", "pool ready nodes", "pool replicas"} {
		want[name] = size // a size that an autoscaler owns is in spec.replicas by now
	}
	if s.DefaultCoolDown != nil {
		want["cooldown"] = strconv.Itoa(int(s.DefaultCoolDown.Seconds()))
	}
	if s.DefaultInstanceWarmup != nil {
		want["warmup"] = strconv.Itoa(int(s.DefaultInstanceWarmup.Seconds()))
	}
	if v := s.AWSLaunchTemplate.RootVolume; v != nil {
		want["root"] = strconv.Itoa(int(v.Size))
	}
	zones := s.AvailabilityZones
	if zones == nil {
		zones = []string{"eu-west-1a", "eu-west-1b", "eu-west-1c"}
	}
	want["zones"] = strings.Join(zones, ",")
	hooks := []string{"muster-drain=1800"} // the hook by which nodes are drained, which every group has
	for _, h := range s.AWSLifecycleHooks {
		hooks = append(hooks, h.Name+"="+strconv.Itoa(int(h.HeartbeatTimeout.Seconds())))
	}
	want["hooks"] = strings.Join(slices.Sorted(slices.Values(hooks)), ",")
	return want
}

// wantVersions says what is wanted of the launch template's versions.
func (w *World) wantVersions(o *infra, want map[string]string) {
	if e := o.template().Existing; e != nil {
		// The user who made the template decides what is in it.
		want["type"], want["templates"] = broughtTypes[e.Version-1], "0"
		for _, ours := range []string{"data", "spare versions", "default"} {
			delete(want, ours)
		}
	}
	if !o.rolls() || w.scenario.SkipModel {
		delete(want, "default") // what machines run from that are never replaced may stay the default
	}
}

// told is what the objects' statuses say, beside what there is.
func (w *World) told(is map[string]string) {
	mp, o := w.objects(w.user)
	if mp == nil || o == nil {
		return
	}
	is["ready nodes"] = itoa(o.status().ReadyReplicas)
	is["pool ready nodes"], is["pool replicas"] = itoa(mp.Status.ReadyReplicas), itoa(mp.Status.Replicas)
	is["pool"] = mp.Status.Phase
	if c := meta.FindStatusCondition(o.status().Conditions, clusterv1.ReadyCondition); c != nil {
		is["ready"] = string(c.Status)
	}
}

// end is what there is at the end, without what differs between two runs that did the same.
func (w *World) end() map[string]string {
	if w.gone {
		return map[string]string{"gone": "true"}
	}
	is := w.is()
	delete(is, "owner")
	is["says"] = named.ReplaceAllString(w.says(), "$1-…")
	if w.scenario.Has(Back) {
		// What is taken back soon may never have been made.
		is["says"] = numbered.ReplaceAllString(is["says"], "lt-…")
		return is
	}
	for _, t := range w.account.snapshot().Templates {
		is["versions"] = t.Print
	}
	return is
}

// numbered are versions of a launch template.
var numbered = regexp.MustCompile(`lt-…:\d+`)

// named are identifiers that the cloud makes up, which another course of events makes others.
var named = regexp.MustCompile(`\b(i|lt)-[0-9a-f]{17}\b`)

// look sees whether the pool is gone, and that nothing of it was left when its infrastructure object went: what others do to the rest later
// changes nothing.
func (w *World) look() {
	mp, o := &clusterv1.MachinePool{}, w.scenario.newInfra()
	ctx := w.t.Context()
	if w.gone {
		return
	}
	if w.user.Get(ctx, infraKey, o.Object) == nil {
		w.released = false
		return
	}
	if !w.released {
		w.released, w.leftovers = true, nil
		if !recent(w.account.owned) {
			w.leftovers = oracle.Left(w.account.snapshot(), w.account.owner.ID)
		}
	}
	if w.user.Get(ctx, poolKey, mp) == nil {
		return
	}
	w.gone = true
	w.trace.add("gone", "")
	w.blameAll("left", w.leftovers)
}

// knows is what the pool asks for as a process knows it, in the oracles' words.
func (p *process) knows() oracle.Wanted {
	mp, o := p.world.objects(p.cached)
	wanted := oracle.Wanted{Owner: p.world.owner().ID}
	if o != nil {
		if at := p.world.account.rewritten; at.IsZero() || time.Since(at) > restLeast {
			wanted.Keep = o.keep()
		}
		if named, ok := o.Object.(infrapool.Lists); ok {
			wanted.Named = groupOf(named.GetProviderID())
		}
		wanted.Adopt, wanted.Kept = annotated(mp, o, pool.AdoptAnnotation), p.world.kept()
		least, most := o.bounds()
		wanted.Min, wanted.Max = int(least), int(most)
		wanted.Deleting = !o.GetDeletionTimestamp().IsZero() || mp != nil && (o.azure != nil || o.agents != nil) && !mp.DeletionTimestamp.IsZero()
		if id := o.GetAnnotations()[ownership.Annotation]; id != "" {
			wanted.Owner = id
		}
	}
	if mp != nil {
		wanted.Replicas = int(ptr.Deref(mp.Spec.Replicas, 1))
		wanted.External = sizedElsewhere(mp)
		wanted.Surge, wanted.Unavailable = oracle.Share{N: 1}, oracle.Share{}
		wanted.DrainTimeout = time.Duration(ptr.Deref(mp.Spec.Template.Spec.Deletion.NodeDrainTimeoutSeconds, 0)) * time.Second
	}
	wanted.Condemned = p.world.allCondemned()
	p.asks(mp, o, &wanted)
	return wanted
}

// asks says how machines are to be replaced.
func (p *process) asks(mp *clusterv1.MachinePool, o *infra, wanted *oracle.Wanted) {
	if o != nil && o.strategy() != nil {
		wanted.ByHand = true
		r := o.strategy().RollingUpdate
		wanted.Surge, wanted.Unavailable = share(r.MaxSurge), share(r.MaxUnavailable)
	}
	if o != nil && o.agents != nil {
		p.asksAKS(o.agents, wanted)
	}
	if o != nil && o.managed != nil {
		// EKS replaces what has changed, and our hand what is to be restarted, of which one at least may always be missing.
		wanted.Force = o.managed.Spec.UpdateConfig != nil && o.managed.Spec.UpdateConfig.Force
		wanted.ByHand, wanted.Surge, wanted.Unavailable = true, oracle.Share{}, o.unavailable()
	}
	wanted.SkipModel = p.world.scenario.SkipModel
	wanted.Paused = annotated(mp, o, rolloutAnnotation) == "paused"
	if annotated(mp, o, restartAnnotation) != "" {
		wanted.Restart = p.world.asked()
	}
}

func share(v *intstr.IntOrString) oracle.Share {
	if v.Type == intstr.Int {
		return oracle.Share{N: v.IntValue()}
	}
	n, _ := strconv.Atoi(strings.TrimSuffix(v.StrVal, "%"))
	return oracle.Share{N: n, Percent: true}
}

func sizedElsewhere(o client.Object) bool {
	value, on := o.GetAnnotations()[clusterv1.ReplicasManagedByAnnotation]
	return on && value != "false"
}

// asksAKS says how machines of an agent pool are to be replaced.
func (p *process) asksAKS(a *agentPool, wanted *oracle.Wanted) {
	// AKS replaces what has changed, and our hand what is to be restarted.
	if p.world.scenario.System && p.world.account.disowned.IsZero() {
		wanted.Adopt = infraKey.Name // without being asked: it was created with its cluster for the object
	}
	wanted.ByHand, wanted.External = true, wanted.External || a.spec().Scaling != nil
	wanted.Surge, wanted.Unavailable = a.limits()
	if wanted.Surge.N == 0 && wanted.Replicas <= wanted.Min {
		wanted.Surge.N = 1 // AKS takes no machine that its least number needs
	}
}
