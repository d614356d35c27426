package compat

import (
	"slices"
	"strings"
	"testing"

	"github.com/muster-project/muster/kube/webhook"
	"github.com/muster-project/muster/providers/all"
)

// TestPathsOfWebhooks holds that each webhook has the path that the ecosystem gives it, and that each kind of template is kept as it is.
func TestPathsOfWebhooks(t *testing.T) {
	t.Parallel()
	var kept []string
	for _, h := range all.Hooks() {
		verb := "validate"
		if h.Role == webhook.Defaults {
			verb = "mutate"
		}
		path := "/" + verb + "-" + strings.ReplaceAll(h.Version.Group, ".", "-") + "-" + h.Version.Version + "-" + h.Name
		if h.Path != path || h.Resource != h.Name+"s" {
			t.Errorf("%s: want %s and plural, got %s and %s", h.Name, path, h.Path, h.Resource)
		}
		if h.Role == webhook.Keeps {
			kept = append(kept, h.Name)
		}
	}
	want := []string{"awsmachinepooltemplate", "awsmanagedmachinepooltemplate", "azuremachinepooltemplate", "azuremanagedmachinepooltemplate",
		"azureasomanagedmachinepooltemplate", "gcpmachinepooltemplate", "gcpmanagedmachinepooltemplate", "ocimachinepooltemplate",
		"ocimanagedmachinepooltemplate", "ocivirtualmachinepooltemplate"}
	if !slices.Equal(want, kept) {
		t.Errorf("want the templates %v kept, got %v", want, kept)
	}
}

// TestControllersHaveNames holds that each controller has a name by which it can be switched off.
func TestControllersHaveNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range all.Providers() {
		for _, c := range p.Controllers {
			if seen[c.Name] || c.Name == "" {
				t.Errorf("%s: want a name of its own for each controller, got %q again", p.Name, c.Name)
			}
			seen[c.Name] = true
		}
	}
}
