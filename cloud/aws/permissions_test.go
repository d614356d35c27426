package aws_test

import (
	"context"
	"net/http"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/cloud/aws/permissions"
	"github.com/muster-project/muster/cloud/cloudtest"
	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/permissions/bound"
)

// The driver keeps the contract with credentials that allow what package permissions prints, and nothing else.
func TestContractWithLeastPermissions(t *testing.T) {
	bound.Contract(t, permissions.Options{}, bound.ByContract, func(a *bound.Account) cloudtest.Suite[source] {
		s := suite()
		s.Cloud = func() (cloudtest.Cloud, error) { return a.Bind(simaws.New(simaws.Options{Seed: 1})) }
		s.Driver = func(wire http.RoundTripper) (cloud.Driver[source], error) {
			return aws.New(aws.Options{Base: wire, Config: func(_ context.Context, region string) (awssdk.Config, error) {
				settings := config(region)
				settings.Credentials = a.Provider
				return settings, nil
			}})
		}
		return s
	})
}
