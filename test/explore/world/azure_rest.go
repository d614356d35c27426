package world

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
	simcompute "github.com/muster-project/muster/sim/azure/compute"
)

// wantAzure is what the objects of a pool on Azure ask for.
func (w *World) wantAzure(mp *clusterv1.MachinePool, o *infra) map[string]string {
	s := &o.azure.Spec
	want := map[string]string{
		"group": "1", "state": "Succeeded", "owner": w.owner().ID, "team": s.AdditionalTags["team"], "stage": s.AdditionalTags["stage"], "cluster": clusterName,
		"type": s.Template.VMSize, "caching": string(s.Template.OSDisk.CachingType), "extensions": extensions(s), "token": "good",
		"cordoned": "0", "stale": "0", "old": "0", "ready": "True", "pool": "Running", "behind": "0", "exposed": "0",
	}
	if w.external() || w.scenario.Has(HandExpose) && w.scenario.Mode == azurev1.FlexibleOrchestrationMode { // which is looked at once an hour
		delete(want, "exposed") // the autoscaler could not make the scale set smaller
	}
	stays := w.external() && share(s.Strategy.RollingUpdate.MaxSurge).Of(int(ptr.Deref(mp.Spec.Replicas, 1)), true) == 0
	if stays {
		for _, what := range []string{"stale", "old", "behind"} {
			delete(want, what) // no machine may be removed that is not replaced, which the object says
		}
	}
	if w.keepsOthersBehind() {
		delete(want, "behind")
	}
	for what, by := range w.account.notes {
		want[what] = by
	}
	maps.Copy(want, counts(mp))
	if stays && strings.Contains(w.says(), "can't be replaced") {
		// A stale machine that never joined stays too: Azure lowers the autoscaler's capacity with its removal, and one that is raised
		// again could not be told, after a crash, from one that undoes what the autoscaler has removed. The user is told what to do.
		for _, what := range []string{"joined", "in service", "ready nodes", "pool ready nodes", "ready", "pool"} {
			delete(want, what)
		}
	}
	return want
}

// keepsOthersBehind reports whether machines may lack what is changed in place: what one failed with no other gets, which the object says; and
// machines that came while the scale set's tag was another's have that one, and tell of the pool's.
func (w *World) keepsOthersBehind() bool {
	return w.scenario.Has(HandFail) && strings.Contains(w.says(), "in place, because machine") || w.scenario.Has(HandTags)
}

// counts are what a pool that has all its machines counts.
func counts(mp *clusterv1.MachinePool) map[string]string {
	all, size := map[string]string{}, itoa(ptr.To(ptr.Deref(mp.Spec.Replicas, 1)))
	for _, name := range []string{"size", "in service", "joined", "ready nodes", "pool ready nodes", "pool replicas", "machines", "infrastructure machines", "owned"} {
		all[name] = size
	}
	return all
}

func extensions(s *azurev1.AzureMachinePoolSpec) string {
	var list []string
	for _, e := range s.Template.VMExtensions {
		list = append(list, e.Name+"="+e.Settings["key"])
	}
	return strings.Join(list, ",")
}

// Parts of what a scale set is made of.
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

// isAzure says what there is of a pool on Azure.
func (w *World) isAzure() map[string]string {
	if w.scenario.onAKS() {
		return w.isAgents()
	}
	is := map[string]string{"group": "0"}
	s := w.account.scaleSet()
	if s == nil {
		return is
	}
	is["group"], is["state"], is["size"], is["type"] = "1", s.State, strconv.Itoa(s.Capacity), s.Size
	is["owner"], is["team"], is["stage"], is["cluster"], is["tag theirs"] = s.Tags[tagOwnerAzure], s.Tags["team"], s.Tags["stage"], s.Tags["muster.dev_cluster"], s.Tags[theirs]
	is["caching"] = first(cachingIn, s.Content)
	if name := first(extensionIn, s.Extensions); name != "" {
		is["extensions"] = name + "=" + first(settingIn, s.Extensions)
	}
	is["token"] = "bad"
	if token := tokenIn.FindSubmatch(s.CustomData); token != nil && w.workload.good(string(token[1])) {
		is["token"] = "good"
	}
	if s.State == "Failed" {
		// One machine has failed and serves, or Azure was asked for more than it could bring: nothing is to be done about either.
		is["state"], is["size"] = "Succeeded", strconv.Itoa(min(s.Capacity, len(s.Machines)))
	}
	w.areMachines(s, is)
	stale, old := w.left()
	joined, cordoned := w.workload.counts()
	is["stale"], is["old"] = strconv.Itoa(stale), strconv.Itoa(old)
	is["joined"], is["cordoned"] = strconv.Itoa(joined), strconv.Itoa(cordoned)
	w.told(is)
	return is
}

// areMachines says how the scale set's machines are. One of another model is not behind: what is changed in place goes with the model.
func (w *World) areMachines(s *simcompute.Set, is map[string]string) {
	inService, behind, exposed := 0, 0, 0
	for _, m := range s.Machines {
		if m.Power == "running" && (m.State == "Succeeded" || w.workload.Ready(m.UID)) { // one that failed and serves is left alone
			inService++
		}
		if !m.Protected {
			exposed++
		}
		if !w.scenario.LiveTags && m.Tags[tagContentAzure] == s.Tags[tagContentAzure] && (m.Extensions != s.Extensions || m.Tags["team"] != s.Tags["team"] || m.Tags["stage"] != s.Tags["stage"]) {
			behind++
		}
	}
	is["in service"], is["behind"], is["exposed"] = strconv.Itoa(inService), strconv.Itoa(behind), strconv.Itoa(exposed)
	machines, infras := &clusterv1.MachineList{}, &azurev1.AzureMachinePoolMachineList{}
	w.must(w.user.List(w.t.Context(), machines, client.InNamespace(namespace)), "list Machines")
	w.must(w.user.List(w.t.Context(), infras, client.InNamespace(namespace)), "list infrastructure machines")
	owned := slices.DeleteFunc(infras.Items, func(o azurev1.AzureMachinePoolMachine) bool { return len(o.OwnerReferences) < 2 })
	is["owned"] = strconv.Itoa(len(owned))
	is["machines"], is["infrastructure machines"] = strconv.Itoa(len(machines.Items)), strconv.Itoa(len(infras.Items))
}
