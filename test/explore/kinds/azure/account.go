// Package azure provides the simulated subscription of Azure for the exploration of its kinds of pools: its clients and its errors.
package azure

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	azcloud "github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/sim"
	simazure "github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/test/explore/record"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// Tags of groups, as the project promises them: TagOwner carries the owner ID, TagCluster the name of the cluster, TagConsent names the
// object that the operator of the account allows to adopt the group. Azure takes no slash in the name of a tag.
const (
	TagOwner   = "muster.dev_owner"
	TagConsent = "muster.dev_adopt-by"
	TagCluster = "muster.dev_cluster"
)

// BadType is a size of machine whose image does not boot, so that it never joins.
const BadType = "Standard_E2s_v3"

// HandQuota leaves room for few machines.
const HandQuota script.What = "hand sets a quota"

// Follow has a user take back a quota some time later.
func Follow(d *script.Drawing, e script.Event) {
	if e.What == HandQuota {
		d.Scenario.Add(script.Event{What: script.HandHeal, At: d.Later(e, 10, 300)})
	}
}

// Endpoint is the address that only the simulator answers.
const Endpoint = "http://simulated.azure"

// apiVersion is the version of Azure's interface that people ask in.
const apiVersion = "2026-04-01"

// Account is the simulated subscription.
type Account struct {
	World *world.World
	Cloud *simazure.Cloud
}

// New creates a subscription in an Azure with the given options.
func New(w *world.World, o simazure.Options) *Account {
	o.Seed, o.Speed, o.MachineHost, o.Switches = w.Scenario.Seed, w.Scenario.Speed, w.Workload, w.Scenario.Switches
	made, err := simazure.New(o)
	w.Must(err, "make the simulator")
	return &Account{World: w, Cloud: made}
}

// ClearBlockers takes back what keeps Azure from bringing machines.
func (a *Account) ClearBlockers() { a.World.Must(a.Cloud.ClearQuotas(), "take the quotas away") }

// Ask asks Azure for something as people and other programs do.
func (a *Account) Ask(ctx context.Context, method, path string, body any) error {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("write the request: %w", err)
		}
		sent = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, Endpoint+path+"?api-version="+apiVersion, sent)
	if err != nil {
		return fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer user")
	req.Header.Set("Content-Type", "application/json")
	reply, err := sim.Transport{Handler: a.Cloud}.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer func() { _ = reply.Body.Close() }()
	if reply.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %s", method, path, record.Ending(reply, nil))
	}
	return nil
}

// Reads are calls that only read, Zones those of a location.
var (
	Reads = []string{"*_Get", "*_List*"}
	Zones = []string{"1", "2", "3"}
)

// Denial is the code with which Azure refuses what the credentials do not allow.
const Denial = "AuthorizationFailed"

// Refusals are codes that Azure documents for a refusal before anything is done, and the status that each comes with.
func Refusals() []script.Refusal {
	return []script.Refusal{
		{}, {},
		{Code: Denial, Status: http.StatusForbidden},
		{Code: "ServiceUnavailable", Status: http.StatusServiceUnavailable},
		{Code: "Conflict", Status: http.StatusConflict},
		{Code: "OperationNotAllowed", Status: http.StatusConflict},
		{Code: "QuotaExceeded", Status: http.StatusBadRequest},
		{Code: "InvalidParameter", Status: http.StatusBadRequest},
	}
}

// InNetwork returns the ID of something of the network in the resource group.
func InNetwork(path string) string {
	return "/subscriptions/" + simazure.SubscriptionID + "/resourceGroups/" + simazure.ResourceGroup + "/providers/Microsoft.Network/" + path
}

// AnyToken returns a credential that the simulated Azure takes.
func AnyToken(azcloud.Configuration, *azurev1.IdentityView) (azcore.TokenCredential, error) {
	return anyToken{}, nil
}

type anyToken struct{}

// GetToken returns a meaningless token.
func (anyToken) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "any", ExpiresOn: time.Now().Add(24 * time.Hour)}, nil
}
