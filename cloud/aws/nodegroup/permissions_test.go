package nodegroup_test

import (
	"context"
	"net/http"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/nodegroup"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/providers/aws/permissions"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/permissions/bound"
)

// The driver keeps the contract with credentials that allow what package permissions prints, and nothing else.
func TestContractWithLeastPermissions(t *testing.T) {
	if testing.Short() {
		t.Skip("the contract a second time")
	}
	o := permissions.Options{EKS: true, EKSIAM: true, NodeRoles: []string{simaws.NodegroupRole, "for-this-pool"}}
	bound.Contract(t, o, nil, func(a *bound.Account) cloudtest.Suite[source] {
		s := suite()
		s.Cloud = func(on sim.Switches) (cloudtest.Cloud, error) {
			server, err := a.Bind(newCloud(version, on...))
			return managed{Server: server}, err
		}
		s.Driver = func(wire http.RoundTripper) (cloud.Driver[source], error) {
			return newDriver(wire, func(o *nodegroup.Options) {
				o.EnableIAM, o.AllowAddRoles = true, true
				o.Config = func(_ context.Context, region string) (awssdk.Config, error) {
					settings := config(region)
					settings.Credentials = a.Provider
					return settings, nil
				}
			})
		}
		return s
	})
}
