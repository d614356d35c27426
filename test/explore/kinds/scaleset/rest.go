package scaleset

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/sim"
	simcompute "github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// want returns the state that the objects of a pool on Azure ask for.
func (p *pool) want(mp *clusterv1.MachinePool, o client.Object) map[string]string {
	s := &object(o).Spec
	want := p.World.Group.Want(mp, s.AdditionalTags)
	for _, name := range []string{"machines", "infrastructure machines", "owned"} {
		want[name] = want["size"]
	}
	maps.Copy(want, map[string]string{
		"state": "Succeeded", "type": s.Template.VMSize, "caching": string(s.Template.OSDisk.CachingType), "extensions": extensions(s),
		"token": "good", "behind": "0", "exposed": "0",
	})
	if p.World.Objects.External() || p.World.Scenario.Has(HandExpose) &&
		own(p.World.Scenario).Mode == azurev1.FlexibleOrchestrationMode { // which is looked at once an hour
		delete(want, "exposed") // the autoscaler could not make the scale set smaller
	}
	stays := p.World.Objects.External() && world.Share(s.Strategy.RollingUpdate.MaxSurge).Of(int(ptr.Deref(mp.Spec.Replicas, 1)), true) == 0
	if stays {
		for _, what := range []string{"stale", "old", "behind"} {
			delete(want, what) // no machine may be removed that is not replaced, which the object says
		}
	}
	if p.keepsOthersBehind() {
		delete(want, "behind")
	}
	if stays && strings.Contains(p.World.Objects.StatusText(), "can't be replaced") {
		// A stale machine that never joined stays too: Azure lowers the autoscaler's capacity with its removal, and after a crash, a capacity
		// that was restored for it would look like one that reverts a scale-in of the autoscaler. A message tells the user what to do.
		for _, what := range []string{"joined", "in service", "ready nodes", "pool ready nodes", "ready", "pool"} {
			delete(want, what)
		}
	}
	return want
}

// keepsOthersBehind reports whether machines may lack an in-place change: if it failed on one, no other gets it, which the object reports;
// and machines that came while another owner's tag was on the scale set have that tag and not the pool's.
func (p *pool) keepsOthersBehind() bool {
	return p.World.Scenario.Has(script.HandFail) && strings.Contains(p.World.Objects.StatusText(), "in place, because machine") ||
		p.World.Scenario.Has(script.HandTags)
}

func extensions(s *azurev1.AzureMachinePoolSpec) string {
	var list []string
	for _, e := range s.Template.VMExtensions {
		list = append(list, e.Name+"="+e.Settings["key"])
	}
	return strings.Join(list, ",")
}

// Parts of the model of a scale set.
var (
	cachingIn   = regexp.MustCompile(`"osDisk":\{[^}]*"caching":"([A-Za-z]*)"`)
	extensionIn = regexp.MustCompile(`"name":"(watch)"`)
	settingIn   = regexp.MustCompile(`"key":"([a-z]*)"`)
)

func first(form *regexp.Regexp, text string) string {
	if found := form.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return ""
}

// is returns the state of a pool on Azure.
func (p *pool) is() map[string]string {
	more := map[string]string{}
	if s := p.scaleSet(); s != nil {
		more["state"], more["type"], more["caching"] = s.State, s.Size, first(cachingIn, s.Content)
		if name := first(extensionIn, s.Extensions); name != "" {
			more["extensions"] = name + "=" + first(settingIn, s.Extensions)
		}
		more["token"] = p.World.Workload.Tokens.TokenIn(s.CustomData)
		more["size"] = strconv.Itoa(s.Capacity)
		if s.State == "Failed" {
			// A failed machine serves, or Azure was asked for more than it could provide: nothing can be done about either.
			more["state"], more["size"] = "Succeeded", strconv.Itoa(min(s.Capacity, len(s.Machines)))
		}
		p.areMachines(s, more)
	}
	return p.World.Group.Is(func(m sim.Member) bool {
		return m.State == "Succeeded" && !m.Failed || p.World.Workload.Ready(m.ID) // one that failed and serves is left alone
	}, more)
}

// areMachines adds the state of the scale set's machines. A machine with an outdated model does not count as drifted, because in-place
// changes come with the model.
func (p *pool) areMachines(s *simcompute.Set, is map[string]string) {
	behind, exposed := 0, 0
	for _, m := range s.Machines {
		if !m.Protected {
			exposed++
		}
		if !p.World.Scenario.Switches.On(simcompute.LiveTags) && m.Tags[tagContent] == s.Tags[tagContent] &&
			(m.Extensions != s.Extensions || m.Tags["team"] != s.Tags["team"] || m.Tags["stage"] != s.Tags["stage"]) {
			behind++
		}
	}
	is["behind"], is["exposed"] = strconv.Itoa(behind), strconv.Itoa(exposed)
	machines, infras := &clusterv1.MachineList{}, &azurev1.AzureMachinePoolMachineList{}
	ctx, within := p.World.Context(), p.World.OfPool()
	p.World.Must(p.World.Objects.User.List(ctx, machines, within...), "list Machines")
	p.World.Must(p.World.Objects.User.List(ctx, infras, within...), "list infrastructure machines")
	owned := slices.DeleteFunc(infras.Items, func(o azurev1.AzureMachinePoolMachine) bool { return len(o.OwnerReferences) < 2 })
	is["owned"] = strconv.Itoa(len(owned))
	is["machines"], is["infrastructure machines"] = strconv.Itoa(len(machines.Items)), strconv.Itoa(len(infras.Items))
}
