package doctor

import (
	"testing"
	"time"
)

func TestCore(t *testing.T) {
	t.Parallel()
	served := func(versions ...string) []Definition {
		return []Definition{{Name: "machinepools.cluster.x-k8s.io", Core: true, Wants: "v1beta2", Served: versions}}
	}
	run(t, core, []row{
		{"installed", Installation{Definitions: served("v1beta1", "v1beta2"), Managers: []Manager{upstream(nil)}},
			[]string{"OK Deployment capi-system/capi-controller-manager: version v1.14.2, 1 of 1 replicas ready, contract v1beta2"}},
		{"not installed", Installation{Definitions: served()},
			[]string{"PROBLEM CustomResourceDefinition machinepools.cluster.x-k8s.io: does not exist"}},
		{"an older version", Installation{Definitions: served("v1beta1"), Managers: []Manager{upstream(nil)}},
			[]string{"PROBLEM CustomResourceDefinition machinepools.cluster.x-k8s.io: is served in v1beta1, not in v1beta2"}},
		{"no manager with the label", Installation{Definitions: served("v1beta2")},
			[]string{"WARNING Cluster API: contract v1beta2 is served, but no Deployment"}},
		{"a world of muster up", Installation{Definitions: served("v1beta2"), Local: true}, []string{"OK Cluster API: "}},
		{"no replica is ready", Installation{Definitions: served("v1beta2"), Managers: []Manager{upstream(func(m *Manager) { m.Ready = 0 })}},
			[]string{"PROBLEM Deployment capi-system/capi-controller-manager: version v1.14.2, 0 of 1"}},
		{"scaled to nothing", Installation{Definitions: served("v1beta2"), Managers: []Manager{upstream(func(m *Manager) {
			m.Desired, m.Ready = 0,
				0
		})}},
			[]string{"PROBLEM Deployment capi-system/capi-controller-manager: is scaled to 0"}},
	})
}

func TestManager(t *testing.T) {
	t.Parallel()
	leads := &Lease{Holder: "pod-0", Renewed: noon.Add(-time.Second), Duration: 15 * time.Second}
	stale := &Lease{Holder: "pod-0", Renewed: noon.Add(-time.Minute), Duration: 15 * time.Second}
	const ok, lease = "OK Deployment muster-system/muster-controller-manager: version v0.1.0, 2 of 2", "Lease of Muster's leader election: "
	run(t, manager, []row{
		{"two replicas, one leads", Installation{Managers: []Manager{muster(nil)}, Lease: leads, Release: "v0.1.0"}, []string{ok,
			"OK " + lease + "pod-0 leads"}},
		{"not installed", Installation{Managers: []Manager{upstream(nil)}}, []string{"PROBLEM Muster: no Deployment"}},
		{"a world of muster up", Installation{Local: true}, []string{"OK Muster: "}},
		{"one replica of two", Installation{Managers: []Manager{muster(func(m *Manager) { m.Ready = 1 })}, Lease: leads},
			[]string{"WARNING Deployment muster-system/muster-controller-manager: version v0.1.0, 1 of 2", "OK " + lease}},
		{"the leader is gone", Installation{Managers: []Manager{muster(nil)}, Lease: stale}, []string{ok,
			"PROBLEM " + lease + "pod-0 has not renewed it"}},
		{"a leader has never been", Installation{Managers: []Manager{muster(nil)}}, []string{ok, "PROBLEM " + lease + "no manager leads"}},
		{"a lease that was given back", Installation{Managers: []Manager{muster(nil)}, Lease: &Lease{}}, []string{ok,
			"PROBLEM " + lease + "no manager leads"}},
		{"this command is of another release", Installation{Managers: []Manager{muster(nil)}, Lease: leads, Release: "v0.2.0"},
			[]string{ok, "WARNING Deployment muster-system/muster-controller-manager: has version v0.1.0, and this command v0.2.0",
				"OK " + lease}},
		{"two installations", Installation{Managers: []Manager{muster(nil), muster(func(m *Manager) { m.Namespace = "other" })}, Lease: leads},
			[]string{ok, "OK Deployment other/", "PROBLEM Deployment other/muster-controller-manager: is a second manager", "OK " + lease}},
	})
}

func TestDefinitions(t *testing.T) {
	t.Parallel()
	definition := func(change func(*Definition)) []Definition {
		d := Definition{Name: "pools", Served: []string{"v1beta2"}, WantLabels: map[string]string{"cluster.x-k8s.io/v1beta2": "v1beta2"},
			Labels: map[string]string{"cluster.x-k8s.io/v1beta2": "v1beta2", clusterctlLabel: "", providerLabel: MusterProvider}}
		if change != nil {
			change(&d)
		}
		return []Definition{d}
	}
	const object = "CustomResourceDefinition pools: "
	run(t, definitions, []row{
		{"as installed", Installation{Definitions: definition(nil)}, []string{"OK " + object + "served in v1beta2"}},
		{"missing", Installation{Definitions: definition(func(d *Definition) { d.Served, d.Labels = nil, nil })},
			[]string{"PROBLEM " + object + "does not exist"}},
		{"replaced by another provider's",
			Installation{Definitions: definition(func(d *Definition) { d.Message = "conversion: want a, found b" })},
			[]string{"PROBLEM " + object + "conversion: want a, found b"}},
		{"a contract label of another version",
			Installation{Definitions: definition(func(d *Definition) { d.Labels["cluster.x-k8s.io/v1beta2"] = "v1beta1" })},
			[]string{`PROBLEM ` + object + `contract labels differ: cluster.x-k8s.io/v1beta2: want "v1beta2", found "v1beta1"`}},
		{"another provider's that has all that is needed",
			Installation{Definitions: definition(func(d *Definition) { d.Labels[providerLabel] = "infrastructure-cloud" })},
			[]string{"WARNING " + object + "has what Muster needs, but belongs to infrastructure-cloud"}},
		{"installed without clusterctl", Installation{Definitions: definition(func(d *Definition) { delete(d.Labels, clusterctlLabel) })},
			[]string{"OK ", "WARNING 1 CustomResourceDefinitions: have no label clusterctl.cluster.x-k8s.io"}},
		{"a world is never moved", Installation{Local: true, Definitions: definition(func(d *Definition) { delete(d.Labels, clusterctlLabel) })},
			[]string{"OK "}},
		{"those of Cluster API are another check's", Installation{Definitions: []Definition{{Name: "clusters", Core: true}}}, nil},
	})
}

func TestRights(t *testing.T) {
	t.Parallel()
	missing := []Right{{Verb: "get", Resource: "secrets"}, {Verb: "update", Group: "g", Resource: "r", Name: "n", Namespace: "ns"}}
	many := append(missing, make([]Right, 5)...)
	run(t, rights, []row{
		{"no manager, no account", Installation{}, nil},
		{"all", Installation{Rights: &Rights{Account: "a/b", Checked: 9}}, []string{"OK ServiceAccount a/b: has all 9 rights"}},
		{"some are missing", Installation{Rights: &Rights{Account: "a/b", Missing: missing}},
			[]string{"PROBLEM ServiceAccount a/b: may not get secrets; update r.g n in namespace ns"}},
		{"many are counted", Installation{Rights: &Rights{Account: "a/b", Missing: many}},
			[]string{"PROBLEM ServiceAccount a/b: may not get secrets; update r.g n in namespace ns;  ;  ;  ; and 2 more"}},
	})
}
