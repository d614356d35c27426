package permissions

import (
	"slices"
	"strings"
	"testing"
)

func TestRole(t *testing.T) {
	t.Parallel()
	role, err := RoleOf(Options{Project: "simulated-project"})
	if err != nil || role.Title != DefaultTitle || role.Stage != "GA" {
		t.Fatalf("want the role, got %+v, %v", role, err)
	}
	for _, allowed := range []string{"compute.instanceGroupManagers.update", "compute.instanceTemplates.create", "container.clusters.update",
		"iam.serviceAccounts.actAs"} {
		if !role.Allows(allowed) {
			t.Errorf("want %s allowed", allowed)
		}
	}
	for _, denied := range []string{"compute.instances.delete", "container.clusters.delete", "compute.instances.create",
		"compute.firewalls.create", "resourcemanager.projects.setIamPolicy"} {
		if role.Allows(denied) {
			t.Errorf("want %s not allowed", denied)
		}
	}
	if named, err := RoleOf(Options{Title: "mine"}); err != nil || named.Title != "mine" {
		t.Errorf("want the title that was asked for, got %+v, %v", named, err)
	}
	if _, err := RoleOf(Options{Project: "My Project"}); err == nil || !strings.Contains(err.Error(), "want the ID of a project") {
		t.Errorf("want a name that is no ID refused, got %v", err)
	}
}

// TestGrantsAreWhole holds that every permission has a reason, and that none stands for many.
func TestGrantsAreWhole(t *testing.T) {
	t.Parallel()
	grants, err := Grants(Options{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, g := range grants {
		if g.At == "" || len(g.Permissions) == 0 {
			t.Errorf("want what the permissions are granted on, got %+v", g)
		}
		for _, p := range g.Permissions {
			if p.Why == "" || strings.ContainsAny(p.Name, "*/") || len(strings.Split(p.Name, ".")) != 3 {
				t.Errorf("want one permission with its reason, got %+v", p)
			}
			if seen[g.At+p.Name] {
				t.Errorf("%s is granted twice on %s", p.Name, g.At)
			}
			seen[g.At+p.Name] = true
		}
	}
	role, err := RoleOf(Options{})
	if err != nil || !slices.IsSorted(role.IncludedPermissions) {
		t.Errorf("want the permissions in order, got %v, %v", role.IncludedPermissions, err)
	}
}
