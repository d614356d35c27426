package azure_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/authorization/armauthorization/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	"github.com/muster-project/muster/sim/azure"
)

// signIn are options with which credentials of the SDK get their tokens from the simulator.
func (w *inventory) signIn() azcore.ClientOptions {
	return azcore.ClientOptions{Transport: w, Retry: policy.RetryOptions{MaxRetries: -1}, Cloud: cloud.Configuration{
		ActiveDirectoryAuthorityHost: "https://login.sim/",
		Services: map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: {Endpoint: "http://arm.sim",
			Audience: "https://management.sim"}},
	}}
}

func (w *inventory) secret(client, secret string) azcore.TokenCredential {
	w.Helper()
	c, err := azidentity.NewClientSecretCredential(azure.TenantID, client, secret,
		&azidentity.ClientSecretCredentialOptions{ClientOptions: w.signIn(), DisableInstanceDiscovery: true})
	w.must(err)
	return c
}

// look is a read that anybody who is let in may make.
func (w *inventory) look() error {
	_, err := w.sets.NewListPager(azure.ResourceGroup, nil).NextPage(w.Context())
	return err
}

func said(err error, words string) bool { return err != nil && strings.Contains(err.Error(), words) }

func TestCredentials(t *testing.T) {
	rotated := azure.Application{TenantID: azure.TenantID, ClientID: "11111111-0000-4000-8000-000000000001", Secrets: []string{"new"}}
	w := newInventory(t, azure.Options{Applications: []azure.Application{azure.DefaultApplication(), rotated}})
	defer func() { w.must(w.cloud.Close()) }()
	if err := w.look(); !said(err, "InvalidAuthenticationToken") {
		t.Errorf("want a made-up token refused, got %v", err)
	}
	w.connect(w.secret(azure.ClientID, azure.ClientSecret))
	w.must(w.look())
	w.connect(w.secret(azure.ClientID, "wrong"))
	if err := w.look(); !said(err, "AADSTS7000215") {
		t.Errorf("want a wrong secret refused, got %v", err)
	}
	w.connect(w.secret("11111111-0000-4000-8000-00000000dead", "x"))
	if err := w.look(); !said(err, "AADSTS700016") {
		t.Errorf("want an unknown application refused, got %v", err)
	}
	w.connect(w.secret(rotated.ClientID, "new"))
	w.must(w.look())
	rotated.Secrets = []string{"newer"}
	w.must(w.cloud.PutApplication(rotated))
	w.connect(w.secret(rotated.ClientID, "new"))
	if err := w.look(); !said(err, "AADSTS7000215") {
		t.Errorf("want the secret of before refused, got %v", err)
	}
	managed, err := azidentity.NewManagedIdentityCredential(&azidentity.ManagedIdentityCredentialOptions{ClientOptions: w.signIn(),
		ID: azidentity.ClientID(azure.ClientID)})
	w.must(err)
	w.connect(managed)
	w.must(w.look())
}

func TestAssertions(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "muster"},
		NotAfter: time.Now().Add(time.Hour)},
		&x509.Certificate{SerialNumber: big.NewInt(1)}, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	app := azure.Application{
		TenantID: azure.TenantID, ClientID: "22222222-0000-4000-8000-000000000002",
		Federated:    []azure.Federation{{Issuer: "https://oidc.sim", Subject: "system:serviceaccount:muster-system:muster"}},
		Certificates: []string{string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))},
	}
	w := newInventory(t, azure.Options{Applications: []azure.Application{app}})
	defer func() { w.must(w.cloud.Close()) }()
	byCertificate, err := azidentity.NewClientCertificateCredential(azure.TenantID, app.ClientID, []*x509.Certificate{cert}, key,
		&azidentity.ClientCertificateCredentialOptions{ClientOptions: w.signIn(), DisableInstanceDiscovery: true})
	w.must(err)
	w.connect(byCertificate)
	w.must(w.look())
	for subject, want := range map[string]string{"system:serviceaccount:muster-system:muster": "",
		"system:serviceaccount:else:where": "AADSTS70021"} {
		assertion := func(context.Context) (string, error) {
			body := base64.RawURLEncoding.EncodeToString([]byte(`{"iss":"https://oidc.sim","sub":"` + subject +
				`","aud":"api://AzureADTokenExchange"}`))
			return "e30." + body + ".c2ln", nil
		}
		c, err := azidentity.NewClientAssertionCredential(azure.TenantID, app.ClientID, assertion,
			&azidentity.ClientAssertionCredentialOptions{ClientOptions: w.signIn(), DisableInstanceDiscovery: true})
		w.must(err)
		w.connect(c)
		if err := w.look(); want == "" && err != nil || want != "" && !said(err, want) {
			t.Errorf("%s: want %q, got %v", subject, want, err)
		}
	}
}

func TestAuthorization(t *testing.T) {
	app := func(id string, change func(*azure.Application)) azure.Application {
		a := azure.Application{TenantID: azure.TenantID, ClientID: "33333333-0000-4000-8000-00000000000" + id, Secrets: []string{"s"}}
		change(&a)
		return a
	}
	apps := []azure.Application{
		app("1", func(a *azure.Application) { a.Subscriptions = []string{"another"} }),
		app("2", func(a *azure.Application) { a.Role = "Reader" }),
		app("3", func(a *azure.Application) { a.Denied = []string{"Microsoft.Compute/virtualMachineScaleSets/delete*"} }),
		app("4", func(a *azure.Application) { a.TenantID = "44444444-0000-4000-8000-000000000004" }),
	}
	w := newInventory(t, azure.Options{Applications: apps})
	defer func() { w.must(w.cloud.Close()) }()
	refused := func(n int, deed func() error, words string) {
		t.Helper()
		a := apps[n-1]
		c, err := azidentity.NewClientSecretCredential(a.TenantID, a.ClientID, "s",
			&azidentity.ClientSecretCredentialOptions{ClientOptions: w.signIn(), DisableInstanceDiscovery: true})
		w.must(err)
		w.connect(c)
		if err := deed(); words == "" && err != nil || words != "" && !said(err, words) {
			t.Errorf("application %d: want %q, got %v", n, words, err)
		}
	}
	create := func() error {
		_, err := w.sets.BeginCreateOrUpdate(w.Context(), azure.ResourceGroup, "mp", example(t, "Uniform", "mp", 0), nil)
		return err
	}
	drop := func() error {
		_, err := w.sets.BeginDelete(w.Context(), azure.ResourceGroup, "mp", nil)
		return err
	}
	refused(1, w.look, "does not have authorization to perform action 'Microsoft.Compute/virtualMachineScaleSets/read' over scope "+
		"'/subscriptions/"+azure.SubscriptionID)
	refused(2, w.look, "")
	refused(2, create, "Microsoft.Compute/virtualMachineScaleSets/write")
	refused(3, create, "")
	refused(3, drop, "Microsoft.Compute/virtualMachineScaleSets/delete")
	refused(4, w.look, "InvalidAuthenticationTokenTenant")
}

func TestRoles(t *testing.T) {
	inBubble(t, azure.Options{}, func(w *inventory) {
		roles, err := armauthorization.NewRoleAssignmentsClient(azure.SubscriptionID, token("anybody"),
			&arm.ClientOptions{DisableRPRegistration: true, ClientOptions: policy.ClientOptions{
				Cloud: w.signIn().Cloud, InsecureAllowCredentialWithHTTP: true, Transport: w, Retry: policy.RetryOptions{MaxRetries: -1},
			}})
		w.must(err)
		set := w.create("Uniform", "mp", 1, func(s *armcompute.VirtualMachineScaleSet) {
			s.Identity = &armcompute.VirtualMachineScaleSetIdentity{Type: to.Ptr(armcompute.ResourceIdentityTypeSystemAssigned)}
		})
		scope := "/subscriptions/" + azure.SubscriptionID
		contributor := scope + "/providers/Microsoft.Authorization/roleDefinitions/b24988ac-6180-42a0-ab88-20f7382dd24c"
		give := func(name, principal, role string) error {
			_, err := roles.Create(w.Context(), scope, name,
				armauthorization.RoleAssignmentCreateParameters{Properties: &armauthorization.RoleAssignmentProperties{
					PrincipalID: &principal, RoleDefinitionID: &role, PrincipalType: to.Ptr(armauthorization.PrincipalTypeServicePrincipal),
				}}, nil)
			return err
		}
		const one, two = "55555555-0000-4000-8000-000000000001", "55555555-0000-4000-8000-000000000002"
		w.refused(give("no-guid", *set.Identity.PrincipalID, contributor), 400, "InvalidRoleAssignmentId", "")
		w.refused(give(one, "66666666-0000-4000-8000-000000000000", contributor), 400, "PrincipalNotFound", "does not exist in the directory")
		w.refused(give(one, *set.Identity.PrincipalID, scope+"/x/none"), 404, "RoleDefinitionDoesNotExist", "none")
		w.must(give(one, *set.Identity.PrincipalID, contributor))
		check(t, "status", http.StatusCreated, w.last.StatusCode)
		w.must(give(one, *set.Identity.PrincipalID, contributor))
		w.refused(give(two, *set.Identity.PrincipalID, contributor), 409, "RoleAssignmentExists", "already exists")
		got, err := roles.Get(w.Context(), scope, one, nil)
		w.must(err)
		check(t, "principal", *set.Identity.PrincipalID, *got.Properties.PrincipalID)
		page, err := roles.NewListForScopePager(scope,
			&armauthorization.RoleAssignmentsClientListForScopeOptions{Filter: to.Ptr("principalId eq '" + *set.Identity.PrincipalID +
				"'")}).NextPage(w.Context())
		w.must(err)
		check(t, "assignments", 1, len(page.Value))
		_, err = roles.Delete(w.Context(), scope, one, nil)
		w.must(err)
		_, err = roles.Get(w.Context(), scope, one, nil)
		w.refused(err, 404, "RoleAssignmentNotFound", one)
	})
}

func TestSizesTagsAndResources(t *testing.T) {
	w := newInventory(t, azure.Options{})
	defer func() { w.must(w.cloud.Close()) }()
	found := map[string]*armcompute.ResourceSKU{}
	for p := w.skus.NewListPager(&armcompute.ResourceSKUsClientListOptions{Filter: to.Ptr("location eq 'westus2'")}); p.More(); {
		page, err := p.NextPage(w.Context())
		w.must(err)
		for _, s := range page.Value {
			found[*s.Name] = s
		}
	}
	s := found[azure.VMSize]
	if s == nil || len(s.LocationInfo[0].Zones) != 3 {
		t.Fatalf("want %s in three zones, got %s", azure.VMSize, written(t, s))
	}
	capabilities := map[string]string{}
	for _, c := range s.Capabilities {
		capabilities[*c.Name] = *c.Value
	}
	check(t, "vCPUs", "2", capabilities["vCPUs"])
	check(t, "memory", "8", capabilities["MemoryGB"])
	tags := "/subscriptions/" + azure.SubscriptionID + "/resourceGroups/capz/providers/Microsoft.Resources/tags/default?api-version=2021-04-01"
	for _, c := range []struct{ method, body, want string }{
		{"PATCH", `{"operation":"Merge","properties":{"tags":{"a":"1","b":"2"}}}`, `"tags":{"a":"1","b":"2"}`},
		{"PATCH", `{"operation":"Delete","properties":{"tags":{"a":"1"}}}`, `"tags":{"b":"2"}`},
		{"PUT", `{"properties":{"tags":{"c":"3"}}}`, `"tags":{"c":"3"}`},
		{"GET", ``, `"tags":{"c":"3"}`},
		{"PATCH", `{"operation":"Other","properties":{}}`, "InvalidTagsPatchOperation"},
	} {
		if _, _, got := ask(t, w.cloud, c.method, tags, c.body); !strings.Contains(got, c.want) {
			t.Errorf("%s %s: want %s, got %s", c.method, c.body, c.want, got)
		}
	}
	at := "/subscriptions/" + azure.SubscriptionID + "/resourceGroups/capz/providers/"
	for path, want := range map[string]string{
		at + "Microsoft.Network/virtualNetworks/capz-vnet/subnets/capz-node-subnet?api-version=2024-05-01":           `"name":"capz-node-subnet"`,
		at + "microsoft.network/LOADBALANCERS/capz?api-version=2024-05-01":                                           `"Microsoft.Network/loadBalancers"`,
		at + "Microsoft.ManagedIdentity/userAssignedIdentities/capz-identity?api-version=2023-01-31":                 `"principalId"`,
		at + "Microsoft.Network/virtualNetworks/gone?api-version=2024-05-01":                                         `'Microsoft.Network/virtualNetworks/gone' under resource group 'capz' was not found`,
		"/subscriptions/" + azure.SubscriptionID + "/resourcegroups/CAPZ?api-version=2021-04-01":                     `"location":"westus2"`,
		"/subscriptions/" + azure.SubscriptionID + "/resourcegroups/capz?api-version=2020-06-01":                     `"location":"westus2"`,
		"/subscriptions/" + azure.SubscriptionID + "/providers/Microsoft.Compute/locations/westus2/usages" + version: `"cores"`,
	} {
		if _, _, got := ask(t, w.cloud, "GET", path, ""); !strings.Contains(got, want) {
			t.Errorf("%s: want %s, got %s", path, want, got)
		}
	}
}
