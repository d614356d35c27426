package manager_test

import (
	"context"
	"io"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-base/featuregate"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/muster-project/muster/providers"
	"github.com/muster-project/muster/providers/gates"
)

// TestCheckNamesWhatIsMissing holds that a provider which lacks what commands and the manager are made from is refused by its name, instead
// of ending the process when it is used.
func TestCheckNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	whole := func() providers.Provider {
		return providers.Provider{
			Name: "toy", Title: "Toy", AddToScheme: []func(*runtime.Scheme) error{func(*runtime.Scheme) error { return nil }},
			Connect: func(providers.Environment) (*providers.Connection, error) { return &providers.Connection{}, nil },
			Permissions: func() providers.Permissions {
				return providers.Permissions{
					AddFlags: func(*pflag.FlagSet) {}, Document: func(io.Writer, io.Writer) error { return nil },
					Actions: func() ([]providers.Action, error) { return nil, nil },
				}
			},
		}
	}
	for _, c := range []struct {
		why    string
		change func(*providers.Provider)
		want   string
	}{
		{"nothing is missing", func(*providers.Provider) {}, ""},
		{"commands are made from Permissions", func(p *providers.Provider) { p.Permissions = nil }, "provider toy: Permissions is missing"},
		{"each part of it is called", func(p *providers.Provider) {
			p.Permissions = func() providers.Permissions { return providers.Permissions{} }
		}, "provider toy: Permissions.AddFlags is missing\nprovider toy: Permissions.Document is missing\nprovider toy: Permissions.Actions " +
			"is missing"},
		{"the manager calls Connect", func(p *providers.Provider) { p.Connect = nil }, "provider toy: Connect is missing"},
		{"without a name there is its number", func(p *providers.Provider) { p.Name, p.Title = "", "" },
			"provider number 2: Name is missing\nprovider number 2: Title is missing"},
		{"without kinds there is nothing to run", func(p *providers.Provider) { p.AddToScheme = nil }, "provider toy: AddToScheme is missing"},
	} {
		changed, got := whole(), ""
		c.change(&changed)
		if err := providers.Check(whole(), changed); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: want %q, got %q", c.why, c.want, got)
		}
	}
}

// TestCheckSetupsNamesControllers holds that a controller which is listed and cannot be added ends the start of the manager with an error
// that names it.
func TestCheckSetupsNamesControllers(t *testing.T) {
	t.Parallel()
	setup := func(context.Context, controller.Options) error { return nil }
	toy := providers.Provider{Name: "toy", Controllers: []providers.Controller{{Name: "toypool"}, {Name: "toymachine"},
		{Name: "toyconfig", Gate: &gates.Gate{Feature: "Toy"}}}}
	for _, c := range []struct {
		why        string
		connection *providers.Connection
		gate       bool
		want       string
	}{
		{"every controller can be added", &providers.Connection{Setups: map[string]providers.Setup{"toypool": setup, "toymachine": setup,
			"toyconfig": setup}}, true, ""},
		{"a gate is off", &providers.Connection{Setups: map[string]providers.Setup{"toypool": setup, "toymachine": setup}}, false, ""},
		{"the gate is on", &providers.Connection{Setups: map[string]providers.Setup{"toypool": setup, "toymachine": setup}}, true,
			"provider toy: Controllers lists toyconfig, and Connect has no setup for it"},
		{"one is spelled otherwise", &providers.Connection{Setups: map[string]providers.Setup{"toypool": setup, "toymachines": setup}}, false,
			"provider toy: Controllers lists toymachine, and Connect has no setup for it\nprovider toy: Connect has a setup for toymachines, and " +
				"Controllers does not list it"},
		{"a setup is nil", &providers.Connection{Setups: map[string]providers.Setup{"toypool": nil, "toymachine": setup}}, false,
			"provider toy: Controllers lists toypool, and Connect has no setup for it"},
		{"there is no connection", nil, false, "provider toy: Connect returned no connection"},
	} {
		got := ""
		if err := providers.CheckSetups(toy, gates.Gates{Switched: map[featuregate.Feature]bool{"Toy": c.gate}}, c.connection); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: want %q, got %q", c.why, c.want, got)
		}
	}
}
