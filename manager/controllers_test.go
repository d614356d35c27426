package manager

import (
	"testing"

	"k8s.io/component-base/featuregate"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/providers"
	"github.com/muster-project/muster/providers/all"
	"github.com/muster-project/muster/providers/gates"
)

// TestEveryControllerHasASetup holds that each provider can add the controllers that it lists, with its gates on and off.
func TestEveryControllerHasASetup(t *testing.T) {
	t.Parallel()
	for _, p := range all.Providers() {
		for _, on := range []bool{true, false} {
			g := gates.Gates{Switched: map[featuregate.Feature]bool{}}
			for _, gate := range p.Gates {
				g.Switched[gate.Feature] = on
			}
			c, err := p.Connect(providers.Environment{
				Manager: struct{ ctrl.Manager }{}, Gates: g, Pools: func(string) infrapool.Options { return infrapool.Options{} },
			})
			if err == nil {
				err = providers.CheckSetups(p, g, c)
			}
			if err != nil {
				t.Errorf("gates %v: %v", on, err)
			}
		}
	}
}
