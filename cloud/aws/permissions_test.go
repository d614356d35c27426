package aws_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/pool"
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
	bound.Contract(t, permissions.Options{}, bound.ByContract, func(a *bound.Account) cloudtest.Suite[source] {
		s := suite()
		s.Cloud = func(on sim.Switches) (cloudtest.Cloud, error) {
			return a.Bind(simaws.New(simaws.Options{Seed: 1, Switches: on}))
		}
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

// Data that goes through a bucket is put there, looked at, put there again and deleted with the least permissions. That the
// service looks at s3:ListBucket before it reports a missing object is not in the simulator.
func TestBucketWithLeastPermissions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, err := simaws.New(simaws.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = server.Close() }()
		keys, err := bound.Credentials(t.Context(), server, permissions.Options{Bucket: simaws.BucketName})
		if err != nil {
			t.Fatal(err)
		}
		target := tooLong(noise(1), "cloud-config")
		pass := func(kind pool.StepKind) pool.Observed {
			t.Helper()
			d, err := aws.New(aws.Options{Base: sim.Transport{Handler: server},
				Config: func(_ context.Context, region string) (awssdk.Config, error) {
					settings := config(region)
					settings.Credentials = keys
					return settings, nil
				}})
			if err != nil {
				t.Fatal(err)
			}
			o, err := d.Observe(t.Context(), target)
			if err != nil {
				t.Fatal(err)
			}
			if kind != "" {
				if err := d.Start(t.Context(), target, pool.Step{Kind: kind, Fields: o.MissingPrerequisites, Base: o.Latest().Ref}); err != nil {
					t.Fatalf("%s: %v", kind, err)
				}
				time.Sleep(time.Hour)
			}
			return o
		}
		pass(pool.PutTemplate)
		server.RemoveObject(simaws.BucketName, "machine-pool/"+target.Owner.ID+"/"+target.Bootstrap.Hash())
		if o := pass(pool.EnsurePrerequisites); len(o.MissingPrerequisites) != 1 {
			t.Errorf("want it seen that the object is gone, got %v", o.MissingPrerequisites)
		}
		if o := pass(""); len(o.MissingPrerequisites) != 0 || len(server.Objects(simaws.BucketName)) != 1 {
			t.Errorf("want the object there again, got %v", o.MissingPrerequisites)
		}
		pass(pool.DeleteTemplates)
		if left := server.Objects(simaws.BucketName); len(left) > 0 {
			t.Errorf("want nothing left, got %v", left)
		}
		for _, denied := range bound.Denied(server) {
			t.Errorf("want it allowed: %s", denied)
		}
		for _, action := range []string{"s3:PutObject", "s3:GetObject", "s3:DeleteObject"} {
			if server.Asked().Allowed[action] == 0 {
				t.Errorf("want %s asked for, or it is superfluous", action)
			}
		}
	})
}
