// The tests of permissions play scenarios with controllers whose credentials allow what the packages permissions of AWS and Google Cloud
// print and nothing else, and hold that nothing of it is superfluous.

package explore

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/providers/aws/permissions"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/explore/kinds/asg"
	account "github.com/muster-project/muster/test/explore/kinds/aws"
	"github.com/muster-project/muster/test/explore/kinds/nodegroup"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/permissions/bound"
	"github.com/muster-project/muster/test/testrun"
)

// TestLongScenarios plays the golden scenarios of both kinds of AWS with the policies that each needs. Each has the same end as with full
// permissions, and every action of the policies is used by one of them, or by a contract suite.
func TestLongScenarios(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	var mu sync.Mutex
	used := map[string]int{}
	t.Run("play", func(t *testing.T) {
		for _, s := range slices.Concat(asg.Kind.Goldens(), nodegroup.Kind.Goldens(), refreshes()) {
			t.Run(s.Name, func(t *testing.T) {
				t.Parallel()
				allowed := clean(t, s).used.allowed
				mu.Lock()
				defer mu.Unlock()
				for action, n := range allowed {
					used[action] += n
				}
			})
		}
	})
	maps.Copy(used, lookedUp(t))
	for _, action := range allowed(t, permissions.Options{EKS: true, EKSIAM: true}) {
		if elsewhere := slices.Contains(bound.ByContract, action); used[action] == 0 && !elsewhere {
			t.Errorf("%s is allowed, and no scenario needs it", action)
		}
	}
}

// refreshes are scenarios of the group's own refresh that no golden scenario is about.
func refreshes() []script.Scenario {
	at := func(name string, events ...script.Event) script.Scenario {
		for k := range events {
			events[k].At += script.Edited
		}
		return script.Scenario{
			Name: name, Kind: asg.Kind.Kind, Seed: 7, Replicas: 3, Least: 1, Most: 8, DrainTimeout: 10 * time.Minute, Pods: 2, Speed: 5,
			Refresh: script.Surplus, ByGroup: true,
			Events: events, Ends: script.Edited + time.Hour,
		}
	}
	image := script.Event{What: script.Template, N: 3}
	return []script.Scenario{
		at("refresh, taken back in its midst", image, script.Event{What: script.Back, At: 20 * time.Second}),
		at("restart by refresh, beside a machine that has just come", script.Event{What: script.RestartNow},
			script.Event{What: script.Replicas, N: 4, At: time.Second}),
	}
}

// lookedUp returns the actions that a look at a pool asks for whose image EKS publishes.
func lookedUp(t *testing.T) map[string]int {
	t.Helper()
	server, err := simaws.New(simaws.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	keys, err := bound.Credentials(t.Context(), server, permissions.Options{})
	if err != nil {
		t.Fatal(err)
	}
	driver, err := aws.New(aws.Options{Base: sim.Transport{Handler: server},
		Config: func(_ context.Context, region string) (awssdk.Config, error) {
			return awssdk.Config{Region: region, Credentials: keys, BaseEndpoint: awssdk.String("http://simulated.aws")}, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	network := simaws.DefaultAccount().Network
	got, err := driver.Observe(t.Context(), aws.Target{
		Owner: cloud.Owner{ID: "owner", Cluster: "c", Namespace: "ns", Name: "p"}, KubernetesVersion: "v1.31.0",
		Bootstrap: cloud.NewBootstrap([]byte("#cloud-config\n"), "cloud-config"),
		Spec: &awsv1.MachinePoolSource{
			Pool: &awsv1.AWSMachinePoolSpec{MaxSize: 5, AWSLaunchTemplate: awsv1.AWSLaunchTemplate{InstanceType: simaws.InstanceType}},
			Cluster: awsv1.ClusterView{Name: "c", Region: simaws.Region, VPCID: network.VPCID, EKS: true,
				Subnets: []awsv1.SubnetView{{ID: simaws.SubnetID, AvailabilityZone: simaws.Zone}}},
		},
	})
	if denied := bound.Denied(server); err != nil || got.Wanted.Content == "" || len(denied) > 0 {
		t.Errorf("want an image found, got %+v, %v, denied %v", got.Wanted, err, denied)
	}
	return server.Asked().Allowed
}

// awsLimits returns the policies of what the scenario's pool needs.
func awsLimits(t *testing.T, s script.Scenario) limits {
	t.Helper()
	of, managed := s.Own.(nodegroup.Own)
	o := permissions.Options{EKS: managed, EKSIAM: of.Roles, NodeRoles: []string{simaws.NodegroupRole}}
	var additional []string
	if s.Adopted {
		additional = append(additional, adoptionPolicy(t))
	}
	var server *simaws.Server
	return limits{
		manager: account.Credentials(func(made *simaws.Server) (awssdk.CredentialsProvider, error) {
			server = made
			return bound.Credentials(context.Background(), made, o, additional...)
		}),
		used: func() usedPermissions { return usedPermissions{server.Asked().Allowed, bound.Denied(server)} },
	}
}

// adoptionPolicy returns the policy that docs/migrating.md has users add for an adoption, for the cluster of the scenarios.
func adoptionPolicy(t *testing.T) string {
	t.Helper()
	const cluster = "c"
	page, err := os.ReadFile("../../docs/migrating.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "```json\n")
	policy, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("want the policy of an adoption in docs/migrating.md, found no block of JSON")
	}
	return strings.ReplaceAll(policy, "cluster/NAME", "cluster/"+cluster)
}

// allowed returns the actions that the options allow.
func allowed(t *testing.T, o permissions.Options) []string {
	t.Helper()
	grants, err := permissions.Grants(o)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, g := range grants {
		for _, name := range g.Names() {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
