package group_test

import (
	"maps"
	"net/http"
	"testing"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/cloud/toy/group"
	"github.com/muster-project/muster/cloud/toy/session"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/evidence"
	simtoy "github.com/muster-project/muster/sim/toy"
	"github.com/muster-project/muster/test/testrun"
)

func TestContract(t *testing.T) { suite().Run(t) }

func TestLongContractCanFail(t *testing.T) {
	testrun.LongOnly(t)
	suite().RunMistakes(t)
}

func TestLongContractWithEachSwitch(t *testing.T) {
	testrun.LongOnly(t)
	suite().RunEachSwitch(t)
}

func suite() cloudtest.Suite[*group.Spec] {
	with := func(change func(*group.Spec)) func(*group.Spec) *group.Spec {
		return func(s *group.Spec) *group.Spec {
			out := *s
			out.Tags = maps.Clone(s.Tags)
			change(&out)
			return &out
		}
	}
	return cloudtest.Suite[*group.Spec]{
		Cloud: func(on sim.Switches) (cloudtest.Cloud, error) {
			made, err := simtoy.New(simtoy.Options{Seed: 1, Switches: on})
			return grouped{made}, err
		},
		Driver: func(wire http.RoundTripper) (cloud.Driver[*group.Spec], error) {
			return group.New(session.Options{Endpoint: "http://simulated.toy", Token: "any", Base: wire}), nil
		},
		Switches: evidence.Switches(core.Beliefs()),
		Pool: func() *group.Spec {
			return &group.Spec{MachineType: "medium", Image: "standard", Tags: map[string]string{"team": "a"}}
		},
		KubernetesVersion: "v1.34.2",
		Changed:           with(func(s *group.Spec) { s.MachineType = "large" }),
		Reshaped:          with(func(s *group.Spec) { s.Tags["stage"] = "test" }),
		Broken: map[string]func(*group.Spec) *group.Spec{
			"spec.machineType": with(func(s *group.Spec) { s.MachineType = "none" }),
			"spec.image":       with(func(s *group.Spec) { s.Image = "none" }),
		},
		TemplateName: group.TemplateName,
		UserTag:      "stage", Spelling: cloud.Spelling{Key: func(name string) string { return cloud.TagDomain + "/" + name }},
		Many: 60, ManyInPage: 5, SteadyReads: 3,
		Primary: []string{"ListGroups", "ListMachines", "ListTemplates"}, Secondary: []string{"GetMachineType"},
		GroupID: func(name string) string { return "toy:///groups/" + name },
	}
}

// grouped is the simulator as those see it who know groups.
type grouped struct{ *simtoy.Cloud }

// Capabilities are those of groups.
func (g grouped) Capabilities() sim.Capabilities { return g.GroupCapabilities() }
