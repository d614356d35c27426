package providers_test

import (
	"io"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/muster-project/muster/providers"
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
		}, "provider toy: Permissions.AddFlags is missing\nprovider toy: Permissions.Document is missing\nprovider toy: Permissions.Actions is missing"},
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
