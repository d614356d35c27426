package cloudtest_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/cloud/toy"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/managed"
	simtoy "github.com/muster-project/muster/sim/toy"
)

// A driver's test hands over how to make the simulated cloud, how to make the driver, and a specification with a few changes of it. The
// suite does the rest:
//
//	func TestContract(t *testing.T) { suite().Run(t) }
//
// This example does by hand what the first clause does: it makes cloud and driver, and observes a pool that does not exist.
func ExampleSuite() {
	suite := cloudtest.Suite[*toy.Source]{
		Cloud: func(on sim.Switches) (cloudtest.Cloud, error) {
			made, err := simtoy.New(simtoy.Options{Seed: 1, Switches: on})
			if err != nil {
				return nil, err
			}
			_, err = made.Console.PutCluster(managed.Cluster{Key: "managed", Name: "managed", Version: "1.34.2"})
			return made, err
		},
		Driver: func(wire http.RoundTripper) (cloud.Driver[*toy.Source], error) {
			return toy.New(toy.Options{Endpoint: "http://simulated.toy", Token: "any", Base: wire}), nil
		},
		Pool: func() *toy.Source {
			return &toy.Source{Cluster: "managed", Pool: toy.Spec{MachineType: "medium", Image: "standard"}}
		},
		KubernetesVersion: "v1.34.2",
		Many:              60, SteadyReads: 3,
	}
	simulated, err := suite.Cloud(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	driver, err := suite.Driver(sim.Transport{Handler: simulated})
	if err != nil {
		fmt.Println(err)
		return
	}
	observed, err := driver.Observe(context.Background(), cloud.Target[*toy.Source]{
		Owner: cloud.Owner{ID: "1f0c", Cluster: "prod", Namespace: "team-a", Name: "workers"},
		Spec:  suite.Pool(), KubernetesVersion: suite.KubernetesVersion,
	})
	fmt.Println("group exists:", observed.Group != nil, err)
	fmt.Println("wanted template:", observed.Wanted.Content)
	fmt.Println("requests:", simulated.Calls().Summary(0).Total, simulated.Close())

	// Output:
	// group exists: false <nil>
	// wanted template: v1:2b0786c5e6bddc7f
	// requests: 4 <nil>
}
