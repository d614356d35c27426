package permissions

import (
	"slices"
	"strings"
	"testing"
)

// TestPolicy holds who is allowed, and where: a group, the instances or the service account of the manager, in one compartment.
func TestPolicy(t *testing.T) {
	t.Parallel()
	const compartment, cluster = "ocid1.compartment.oc1..aaaa", "ocid1.cluster.oc1.iad.aaaa"
	for _, c := range []struct {
		why       string
		o         Options
		begin, at string
	}{
		{"the default", Options{}, "Allow group muster to {", "} in compartment id COMPARTMENT_OCID"},
		{"a group of an identity domain", Options{Group: "'Default'/'pools'", Compartment: compartment}, "Allow group 'Default'/'pools' to {",
			"} in compartment id " + compartment},
		{"instances", Options{DynamicGroup: "managers", Group: "ignored"}, "Allow dynamic-group managers to {",
			"} in compartment id COMPARTMENT_OCID"},
		{"the service account", Options{WorkloadCluster: cluster, Compartment: compartment}, "Allow any-user to {",
			"} in compartment id " + compartment + " where all {request.principal.type = 'workload', request.principal.namespace = " +
				"'muster-system', request.principal.service_account = 'muster-manager', request.principal.cluster_id = '" + cluster + "'}"},
	} {
		p, err := PolicyOf(c.o)
		if err != nil || len(p) != len(Grants()) {
			t.Errorf("%s: want a statement for each grant, got %q, %v", c.why, p, err)
		}
		for _, statement := range p {
			if !strings.HasPrefix(statement, c.begin) || !strings.HasSuffix(statement, c.at) {
				t.Errorf("%s: want %q and %q, got %q", c.why, c.begin, c.at, statement)
			}
		}
	}
	for words, o := range map[string]Options{
		"want the OCID of a compartment":     {Compartment: "mine"},
		"want the OCID of a cluster":         {WorkloadCluster: "ocid1.cluster.x' or '1'='1"},
		"want the name of a group":           {Group: "a to manage all-resources in tenancy"},
		`"g in tenancy"`:                     {DynamicGroup: "g in tenancy"},
		`compartment "ocid1.compartment. x"`: {Compartment: "ocid1.compartment. x"},
	} {
		if p, err := PolicyOf(o); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("want %q, got %q, %v", words, p, err)
		}
	}
}

// TestGrantsAreWhole holds that each permission is granted once, with a reason, and that the policy holds it.
func TestGrantsAreWhole(t *testing.T) {
	t.Parallel()
	p, err := PolicyOf(Options{})
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for i, grant := range Grants() {
		for _, one := range grant.Permissions {
			count++
			if one.Why == "" || grant.At == "" || one.Name != strings.ToUpper(one.Name) || !strings.Contains(p[i], one.Name) {
				t.Errorf("want a permission with its reason in the policy, got %+v in %q", one, p[i])
			}
		}
	}
	if names := Names(); count != len(names) || !slices.IsSorted(names) {
		t.Errorf("want %d names, each once, got %q", count, names)
	}
}
