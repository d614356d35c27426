package permissions

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestPolicy: the policy allows each operation, in one project and no more; one for looks allows no write.
func TestPolicy(t *testing.T) {
	t.Parallel()
	const id = "105bdce1-64c0-48ab-899d-868455867ecf"
	all, err := PolicyOf(Options{Project: id})
	if err != nil || all.Name != DefaultName {
		t.Fatalf("want the policy, got %+v, %v", all, err)
	}
	looks, err := PolicyOf(Options{ReadOnly: true, Name: "mine"})
	if err != nil || looks.Name != "mine" {
		t.Fatalf("want the name that was asked for, got %+v, %v", looks, err)
	}
	for _, o := range Operations() {
		if !all.Allows(o) || looks.Allows(o) != strings.HasPrefix(o.Name, "List") {
			t.Errorf("%s: want it allowed, and for looks only if it lists, got %t and %t", o.Name, all.Allows(o), looks.Allows(o))
		}
	}
	text, err := json.Marshal(all)
	const want = `{"name":"muster-machine-pools","description":"What Muster needs to run machine pools.","rules":[{"permission_set_names":` +
		`["InstancesReadOnly","KubernetesFullAccess"],"project_ids":["` + id + `"]}]}`
	if err != nil || string(text) != want {
		t.Errorf("want\n%s\ngot\n%s, %v", want, text, err)
	}
	if _, err := PolicyOf(Options{Project: "mine"}); err == nil || !strings.Contains(err.Error(), "want the ID of a project") {
		t.Errorf("want a name that is no ID refused, got %v", err)
	}
}

// TestOperationsAreWhole holds that every operation is named once, with its permission set and a reason.
func TestOperationsAreWhole(t *testing.T) {
	t.Parallel()
	var names []string
	for _, o := range Operations() {
		if o.Why == "" || !slices.Contains([]string{ReadKubernetes, WriteKubernetes, ReadInstances}, o.Set) || slices.Contains(names, o.Name) {
			t.Errorf("want one operation with its set and a reason, got %+v", o)
		}
		names = append(names, o.Name)
	}
}
