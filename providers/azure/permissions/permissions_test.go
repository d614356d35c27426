package permissions

import (
	"slices"
	"strings"
	"testing"
)

const subscription = "/subscriptions/00000000-0000-0000-0000-000000000001"

func TestRole(t *testing.T) {
	t.Parallel()
	assign := "Microsoft.Authorization/roleAssignments/write"
	for _, c := range []struct {
		reason  string
		o       Options
		name    string
		allows  []string
		forbids []string
		err     string
	}{
		{reason: "scale sets, and nothing that gives rights away", o: Options{Scopes: []string{subscription}}, name: DefaultName,
			allows:  []string{"Microsoft.Compute/virtualMachineScaleSets/write", "microsoft.compute/virtualmachinescalesets/MANUALUPGRADE/action"},
			forbids: []string{assign, "Microsoft.Compute/virtualMachines/delete", "Microsoft.Network/virtualNetworks/subnets/write"}},
		{reason: "rights are given away on request alone", o: Options{Scopes: []string{subscription}, RoleAssignments: true}, name: DefaultName,
			allows: []string{assign}},
		{reason: "names are unique in a directory",
			o:    Options{Name: "mine", Scopes: []string{subscription + "/resourceGroups/rg", "/providers/Microsoft.Management/managementGroups/g"}},
			name: "mine"},
		{reason: "a role is for somewhere", o: Options{}, err: "at least one"},
		{reason: "everything is no scope of a custom role", o: Options{Scopes: []string{"/"}}, err: `scope "/"`},
		{reason: "a name is no ID", o: Options{Scopes: []string{"my-subscription"}}, err: "want the ID"},
	} {
		role, err := RoleOf(c.o)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: want an error with %q, got %v", c.reason, c.err, err)
			}
			continue
		}
		if err != nil || role.Name != c.name || !role.IsCustom || !slices.Equal(role.AssignableScopes, c.o.Scopes) {
			t.Errorf("%s: want the role %s at %v, got %+v, %v", c.reason, c.name, c.o.Scopes, role, err)
		}
		for _, a := range c.allows {
			if !role.Allows(a) {
				t.Errorf("%s: want %s allowed by %v", c.reason, a, role.Actions)
			}
		}
		for _, a := range c.forbids {
			if role.Allows(a) {
				t.Errorf("%s: want %s not allowed by %v", c.reason, a, role.Actions)
			}
		}
	}
}

// TestGrantsAreOrdered holds that no action is allowed twice, by a pattern, or without a reason.
func TestGrantsAreOrdered(t *testing.T) {
	t.Parallel()
	grants, err := Grants(Options{RoleAssignments: true})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, g := range grants {
		for _, a := range g.Actions {
			last := a.Name[strings.LastIndex(a.Name, "/")+1:]
			if seen[a.Name] || a.Why == "" || strings.Contains(a.Name, "*") ||
				!slices.Contains([]string{"read", "write", "delete", "action"}, last) {
				t.Errorf("want one action with a reason, once, got %+v", a)
			}
			seen[a.Name] = true
		}
		if g.At == "" {
			t.Errorf("want to know where: %+v", g)
		}
	}
}
