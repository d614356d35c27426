package azure_test

import (
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure"
)

func TestDeeds(t *testing.T) {
	inBubble(t, azure.Options{}, func(w *inventory) {
		hands := w.cloud.Capabilities().OutOfBand
		do := func(d sim.Action, on sim.Resource) {
			t.Helper()
			has, err := hands.Do(d, on)
			w.must(err)
			check(t, string(d), true, has)
			time.Sleep(time.Minute)
		}
		do(sim.CreateGroup, sim.Resource{Name: "theirs"})
		check(t, "tags", 0, len(w.set("theirs").Tags))
		do(sim.SetSize, sim.Resource{Name: "theirs", Size: 2})
		check(t, "machines", 2, len(w.machines("theirs")))
		do(sim.ChangeTag, sim.Resource{Name: "theirs", Key: "a", Value: "b"})
		check(t, "tag", "b", *w.get("theirs").Tags["a"])
		do(sim.RemoveTag, sim.Resource{Name: "theirs", Key: "a"})
		if _, err := hands.Do(sim.RemoveTag, sim.Resource{Name: "theirs", Key: "a"}); err == nil {
			t.Error("want a tag that is not there missed")
		}
		do(sim.TerminateInstance, sim.Resource{Name: "theirs", Instance: "0"})
		check(t, "left", "1", *w.machines("theirs")[0].InstanceID)
		do(sim.DeleteGroup, sim.Resource{Name: "theirs"})
		check(t, "sets", 0, len(w.cloud.State().Sets))
		for _, d := range []sim.Action{
			sim.CreateTemplate, sim.DeleteTemplate, sim.CreateVersion, sim.DeleteVersion, sim.LaunchFrom, sim.SetBounds, sim.ResumeProcesses,
			sim.RemoveHooks,
			sim.MoveToStandby, sim.MarkUnhealthy, sim.RecommendReplacement, sim.RebalanceZones, sim.StartRollout,
		} {
			if has, err := hands.Do(d, sim.Resource{}); has || err != nil {
				t.Errorf("%s: want no such thing in this cloud, got %v, %v", d, has, err)
			}
		}
		for _, d := range []sim.Action{sim.CancelRollout, sim.FailRollout} {
			if has, err := hands.Do(d, sim.Resource{}); !has || err == nil || !strings.Contains(err.Error(), "name the cluster") {
				t.Errorf("%s: want a cluster asked for, got %v, %v", d, has, err)
			}
		}
	})
}

func TestOwner(t *testing.T) {
	w := newInventory(t, azure.Options{Speed: 1e6})
	defer func() { w.must(w.cloud.Close()) }()
	network := "/subscriptions/" + azure.SubscriptionID + "/resourceGroups/new/providers/Microsoft.Network/virtualNetworks/"
	for _, c := range []struct{ method, path, body, want string }{
		{"PUT", "groups", `{"Name":"new","Location":"westus2","Clusters":["c"]}`, ""},
		{"PUT", "resources", `{"ID":"` + network + `more","Doc":{"location":"westus2"}}`, ""},
		{"PUT", "applications", `{"TenantID":"t","ClientID":"c","Secrets":["s"]}`, ""},
		{"PUT", "quotas", `{"location":"westus2","family":"cores","limit":4}`, ""},
		{"PUT", "quotas", `{"location":"moon"}`, "no location"},
		{"PUT", "groups", `{`, "unexpected EOF"},
		{"POST", "machines/none/terminate", "", "there is no machine none"},
		{"POST", "machines/none/detach", "", "there is no machine none"},
		{"PUT", "attached", `{"Set":"none","Name":"theirs"}`, "there is no scale set none"},
		{"POST", "machines/none/hug", "", `action "hug" is none of`},
		{"POST", "faults", `{"kind":"throttle","action":"VirtualMachineScaleSets_Gett"}`, `action "VirtualMachineScaleSets_Gett" is none of`},
		{"POST", "faults", `{"kind":"throttle","action":"virtualMachineScaleSets*"}`, `"VirtualMachineScaleSets_Get"`},
		{"POST", "faults", `{"kind":"throttle","service":"kompute"}`, `service "kompute" is none of ["authorization" "compute"`},
		{"POST", "faults", `{"kind":"no-capacity","zone":"4"}`, `zone "4" is none of ["1" "2" "3"]`},
		{"GET", "state", "", `"Sets": []`},
	} {
		if _, _, got := ask(t, w.cloud, c.method, sim.AdminPath+c.path, c.body); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s %s: want %q, got %s", c.method, c.path, c.want, got)
		}
	}
	for _, name := range []string{"c-vnet", "more", "c-vnet/subnets/c-node-subnet"} {
		if status, _, got := ask(t, w.cloud, "GET", network+name+"?api-version=2024-05-01", ""); status != 200 {
			t.Errorf("%s: want it there, got %s", name, got)
		}
	}
	status, _, got := ask(t, w.cloud, "PUT", inGroup+"virtualMachineScaleSets/big"+version,
		written(t, azure.Example(azure.SubscriptionID, group(), "Uniform", "big", 3)))
	if status != 409 || !strings.Contains(got, "exceeding approved Total Regional Cores quota") {
		t.Errorf("want six cores of four refused, got %s", got)
	}
	ask(t, w.cloud, "DELETE", sim.AdminPath+"quotas", "")
	if status, _, got = ask(t, w.cloud, "PUT", inGroup+"virtualMachineScaleSets/big"+version,
		written(t, azure.Example(azure.SubscriptionID, group(), "Uniform", "big", 3))); status != 201 {
		t.Errorf("want it made without a quota, got %s", got)
	}
}

// A machine that a user attaches is counted with the scale set's own, in flexible mode alone.
func TestAttach(t *testing.T) {
	inBubble(t, azure.Options{}, func(w *inventory) {
		for mode, works := range map[string]bool{"Flexible": true, "Uniform": false} {
			set := strings.ToLower(mode)
			ask(t, w.cloud, "PUT", inGroup+"virtualMachineScaleSets/"+set+version,
				written(t, azure.Example(azure.SubscriptionID, group(), mode, set, 2)))
			time.Sleep(time.Hour)
			if err := w.cloud.Attach(set, "theirs", map[string]string{"team": "b"}); (err == nil) != works {
				t.Errorf("%s: want it taken %t, got %v", mode, works, err)
			}
			if err := w.cloud.Attach(set, "THEIRS", nil); err == nil {
				t.Errorf("%s: want the same name refused", mode)
			}
		}
		sets := w.cloud.State().Sets
		check(t, "capacity", 3, sets[0].Capacity)
		check(t, "machines", 3, len(sets[0].Machines))
		check(t, "tags", "b", sets[0].Machines[2].Tags["team"])
		check(t, "capacity of the other", 2, sets[1].Capacity)
		w.must(w.cloud.Detach("theirs"))
		check(t, "capacity", 2, w.cloud.State().Sets[0].Capacity)
		check(t, "machines", 2, len(w.cloud.State().Sets[0].Machines))
	})
}
