package aws_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/aws/permissions"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
)

const tenantAccount = "210987654321"

// tenancy is the account of the controllers, which may do nothing but assume roles, and a tenant's account, whose role may do
// what package permissions prints.
func tenancy(t *testing.T) (*simaws.Server, simaws.Account) {
	t.Helper()
	document := func(o permissions.Options) []byte {
		all, err := permissions.Documents(o)
		if err != nil || len(all) != 1 {
			t.Fatal(len(all), err)
		}
		text, err := json.Marshal(all[0])
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	tenant := simaws.NewAccount(tenantAccount)
	tenant.Roles = []simaws.Role{{Name: "pools", Policy: string(document(permissions.Options{})),
		Trust: `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::` + simaws.AccountID +
			`:root"},"Action":"sts:AssumeRole",` +
			`"Condition":{"StringEquals":{"sts:ExternalId":"agreed"}}}]}`}}
	controllers := simaws.DefaultAccount()
	controllers.Policy = document(permissions.Options{AssumeRoles: []string{"arn:aws:iam::" + tenantAccount + ":role/pools"}})
	server, err := simaws.New(simaws.Options{Seed: 1, Accounts: []simaws.Account{controllers, tenant}})
	if err != nil {
		t.Fatal(err)
	}
	return server, tenant
}

// inAccount is a target in the network of an account, asked for by an identity.
func inAccount(a simaws.Account, i *awsv1.IdentityView) aws.Target {
	target := aTarget()
	view := awsv1.ClusterView{Name: "c", Region: simaws.Region, VPCID: a.Network.VPCID,
		NodeSecurityGroups: []string{a.Network.NodeSecurityGroupID}, Identity: i}
	for _, s := range a.Network.Subnets {
		view.Subnets = append(view.Subnets, awsv1.SubnetView{ID: s.ID, AvailabilityZone: s.Zone, IsPublic: s.Public})
	}
	target.Spec = &awsv1.MachinePoolSource{Pool: target.Spec.Pool, Cluster: view}
	return target
}

func inRole(externalID string) *awsv1.IdentityView {
	return &awsv1.IdentityView{Name: "AWSClusterRoleIdentity/tenant", Roles: []awsv1.RoleView{
		{Name: "AWSClusterRoleIdentity/tenant", ARN: "arn:aws:iam::" + tenantAccount + ":role/pools", ExternalID: externalID}}}
}

// made makes a pool of two and gives what is observed then.
func made(t *testing.T, d *aws.Driver, target aws.Target) pool.Observed {
	t.Helper()
	for _, s := range []pool.Step{{Kind: pool.PutTemplate}, {Kind: pool.CreateGroup, Size: 2}} {
		o, err := d.Observe(t.Context(), target)
		if err != nil {
			t.Fatal(err)
		}
		s.Template = o.Latest().Ref
		if err := d.Start(t.Context(), target, s); err != nil {
			t.Fatalf("%s: %v", s.Kind, err)
		}
	}
	time.Sleep(10 * time.Minute)
	synctest.Wait()
	o, err := d.Observe(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Two clusters in two accounts have pools of one name and owner that know nothing of each other, through one driver.
func TestTwoAccounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, tenant := tenancy(t)
		defer func() { _ = server.Close() }()
		d, err := newDriver(sim.Transport{Handler: server})
		if err != nil {
			t.Fatal(err)
		}
		theirs, ours := made(t, d, inAccount(tenant, inRole("agreed"))), made(t, d, inAccount(simaws.DefaultAccount(), nil))
		for account, o := range map[string]pool.Observed{tenantAccount: theirs, simaws.AccountID: ours} {
			if o.Group == nil || !strings.Contains(o.Group.ID, ":"+account+":") || len(o.Instances) != 2 {
				t.Errorf("want a group of two in account %s, got %+v", account, o.Group)
			}
		}
		if err := d.Start(t.Context(), inAccount(tenant, inRole("agreed")), pool.Step{Kind: pool.DeleteGroup}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour) // longer than the role's credentials are good
		synctest.Wait()
		theirs, err = d.Observe(t.Context(), inAccount(tenant, inRole("agreed")))
		if err != nil || theirs.Group != nil {
			t.Errorf("want the tenant's group gone, got %+v, %v", theirs.Group, err)
		}
		if ours, err = d.Observe(t.Context(), inAccount(simaws.DefaultAccount(), nil)); err != nil || ours.Group == nil ||
			len(ours.Instances) != 2 {
			t.Errorf("want our group as it was, got %+v, %v", ours.Group, err)
		}
	})
}

// Who may not assume the role asks for nothing, and the refusal names the object that names the role.
func TestRoleThatIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, tenant := tenancy(t)
		defer func() { _ = server.Close() }()
		d, err := newDriver(sim.Transport{Handler: server})
		if err != nil {
			t.Fatal(err)
		}
		_, err = d.Observe(t.Context(), inAccount(tenant, inRole("guessed")))
		var e *cloud.Error
		if !errors.As(err, &e) || e.Kind != cloud.Denied || e.Op != "sts:AssumeRole" || e.Field != "AWSClusterRoleIdentity/tenant" {
			t.Errorf("want sts:AssumeRole denied to the identity, got %v", err)
		}
		for _, call := range server.Calls().Summary(0).Calls {
			if call.Action != "AssumeRole" {
				t.Errorf("want nothing else asked, got %s", call.Action)
			}
		}
	})
}

// A rotated secret signs the next call; until then the refusal names the identity, and not the keys.
func TestRotatedKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, tenant := tenancy(t)
		defer func() { _ = server.Close() }()
		d, err := newDriver(sim.Transport{Handler: server})
		if err != nil {
			t.Fatal(err)
		}
		with := func(id, secret string) aws.Target {
			return inAccount(tenant, &awsv1.IdentityView{Name: "AWSClusterStaticIdentity/tenant", Keys: awsv1.NewAccessKeys(id, secret, "")})
		}
		old := with(tenant.AccessKeyID, tenant.SecretAccessKey)
		if o := made(t, d, old); o.Group == nil {
			t.Fatal("want a group")
		}
		server.RotateKey(tenantAccount, "AKIAROTATED000000000", "another/secret+of+the+tenant")
		_, err = d.Observe(t.Context(), old)
		var e *cloud.Error
		if !errors.As(err, &e) || e.Kind != cloud.Denied || e.Field != "AWSClusterStaticIdentity/tenant" {
			t.Errorf("want the identity named that is denied, got %v", err)
		}
		if text := fmt.Sprint(err); strings.Contains(text, tenant.AccessKeyID) || strings.Contains(text, tenant.SecretAccessKey) {
			t.Errorf("want no keys in %q", text)
		}
		o, err := d.Observe(t.Context(), with("AKIAROTATED000000000", "another/secret+of+the+tenant"))
		if err != nil || o.Group == nil || len(o.Instances) != 2 {
			t.Errorf("want the group seen with the new keys at once, got %+v, %v", o.Group, err)
		}
	})
}
