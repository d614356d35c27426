package aws

import (
	"net/http"
	"slices"
	"time"

	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/explore/script"
)

// Versions draws what happens to the versions of the launch template. Those of node groups are never a user's own.
func Versions(d *script.Drawing, own bool) {
	if d.IntN(4) == 0 {
		d.Scenario.Add(script.Event{What: script.Keep, At: d.Moment(), N: d.IntN(9)})
	}
	if d.IntN(10) == 0 {
		for n := range 2 + d.IntN(2) {
			d.Scenario.Add(script.Event{What: script.Template, At: d.Moment(), N: n + d.IntN(9)})
		}
	}
	if d.IntN(12) == 0 {
		d.Scenario.Add(script.Event{What: script.HandDefault, At: d.Moment(), N: d.IntN(9)})
	}
	if d.IntN(12) == 0 && !d.Scenario.Spot && own {
		d.Scenario.Brought = true
	}
	if d.IntN(10) == 0 {
		d.Scenario.Add(script.Event{What: script.HandDropVersion, At: d.Near(2, 2*time.Minute), N: d.IntN(9)})
	}
}

// Refusals lists the errors that the services document for a request that they reject without any effect.
func Refusals() []script.Refusal {
	list := []script.Refusal{{}, {}}
	for _, code := range []string{
		"AccessDenied", "UnauthorizedOperation", "ServiceUnavailable", "ScalingActivityInProgress", "ResourceContention", "ValidationError",
	} {
		list = append(list, script.Refusal{Code: code, Status: http.StatusBadRequest})
	}
	return list
}

// Zones returns the zones of the account's network.
func Zones() []string { return []string{"eu-west-1a", "eu-west-1b", "eu-west-1c"} }

// Definitions returns the definitions of the ecosystem's provider.
func Definitions() []script.Definition {
	var list []script.Definition
	for _, name := range []string{
		"awsclusters.infrastructure", "awsmachinepools.infrastructure", "awsmanagedmachinepools.infrastructure",
		"awsmanagedcontrolplanes.controlplane",
		"awsmachines.infrastructure", "awsmachinetemplates.infrastructure", "awsclustertemplates.infrastructure",
	} {
		list = append(list, script.Definition{Name: name, Version: "v1beta2"})
	}
	return list
}

// Ignorable returns the rules of what the account may accept and ignore, of EKS or of all but EKS.
func Ignorable(ofEKS bool) []sim.Fault {
	return slices.DeleteFunc(simaws.Ignorable(), func(f sim.Fault) bool { return (f.Service == "eks") != ofEKS })
}
