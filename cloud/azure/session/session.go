package session

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	azcloud "github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/authorization/armauthorization/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/sweep"
	"github.com/muster-project/muster/cloud/wire"
)

const (
	// EndpointVariable names the environment variable with an address that replaces that of Azure Resource Manager.
	EndpointVariable = "AZURE_RESOURCE_MANAGER_ENDPOINT"
	// SubscriptionVariable names the subscription of clusters that name none.
	SubscriptionVariable = "AZURE_SUBSCRIPTION_ID"
	// applicationID identifies Muster in Azure's logs.
	applicationID = "muster"
)

// Options of the Sessions. The zero Options are right for production.
type Options struct {
	// Endpoint is the address of Azure Resource Manager. Default: what EndpointVariable says, else that of the cluster's cloud.
	// No real credential is used over plain HTTP: there a request says in clear who asks.
	Endpoint string
	// Credential gives the credential of an identity, or of the controller for nil. Default: by the kind of the identity, and the
	// SDK's own chain (environment, workload identity, managed identity, command line) for the controller.
	Credential func(of azcloud.Configuration, i *azurev1.IdentityView) (azcore.TokenCredential, error)
	// Base sends the requests instead of the standard library's transport, for tests and recordings.
	Base http.RoundTripper
	// Hook observes every request.
	Hook wire.Hook
	// Around observes the start of every request as well.
	Around wire.Around
	// Timeout of one request. Default: wire.DefaultTimeout.
	Timeout time.Duration
	// Now is the clock. Default: time.Now.
	Now func() time.Time
	// Listing has the lists of the subscription answer whatever they may, also where they cost more than reads of single scale sets: for
	// tests with few of them.
	Listing bool
}

// Session are the clients of one subscription and identity in one location, over one transport, and what was asked of them for
// all pools. The clients do not try again by themselves; everything that they refuse goes through Refusal.
type Session struct {
	// Key tells sessions apart: by cloud, subscription, location, and by who asks. What was observed through one says nothing
	// about another.
	Key string
	// SubscriptionID that the clients speak about, and the Location whose rate budgets they keep.
	SubscriptionID, Location string

	ScaleSets       *armcompute.VirtualMachineScaleSetsClient
	ScaleSetVMs     *armcompute.VirtualMachineScaleSetVMsClient
	VMs             *armcompute.VirtualMachinesClient
	SKUs            *armcompute.ResourceSKUsClient
	RoleAssignments *armauthorization.RoleAssignmentsClient
	RoleDefinitions *armauthorization.RoleDefinitionsClient

	arm       *arm.Client
	identity  *azurev1.IdentityView
	catalogue catalogue
	sets      *sets
	shared    *sweep.Sweep[Set]
	grouped   *sweep.Sweep[[]*armcompute.VirtualMachineScaleSet]
	// sharedMachines are the machines of scale sets in mode Flexible.
	sharedMachines *sweep.Sweep[Machines]
	// managed are managed clusters with their agent pools.
	managed *sweep.Sweep[ManagedCluster]
}

// Sessions makes the session of each subscription, location and identity once. It is safe for concurrent use.
type Sessions struct {
	options Options
	mu      sync.Mutex
	// made are the sessions; one whose identity has changed since is replaced.
	made map[place]*Session
	// transports are shared by all who ask in one subscription and location, for its rate budgets are.
	transports map[place]*wire.Transport
}

// place identifies the target of a session: a cloud's address, a subscription, a location, and the identity's name.
type place struct{ endpoint, subscription, location, name string }

// New makes Sessions. It sends nothing.
func New(o Options) (*Sessions, error) {
	if o.Timeout < 0 {
		return nil, errors.New("azure driver: the timeout of a request is negative: want a positive one, or zero for the default")
	}
	if o.Endpoint == "" {
		o.Endpoint = os.Getenv(EndpointVariable)
	}
	o.Endpoint = strings.TrimSuffix(o.Endpoint, "/")
	if err := usable(o.Endpoint); err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Sessions{options: o, made: map[place]*Session{}, transports: map[place]*wire.Transport{}}, nil
}

// Now is the clock's time.
func (s *Sessions) Now() time.Time { return s.options.Now() }

// Places returns the names of where the groups of a cluster are, which the object in question has.
func Places(object string, cluster azurev1.ClusterView) []driverkit.Place {
	return []driverkit.Place{
		{Object: object, Kind: "subscription", Field: "spec.subscriptionID", Name: cluster.SubscriptionID},
		{Object: object, Kind: "resource group", Field: "spec.resourceGroup", Name: cluster.ResourceGroup},
		{Object: object, Kind: "location", Field: "spec.location", Name: cluster.Location},
	}
}

// Of gives the session of a cluster: its cloud, subscription, location and identity. No identity is the controller with the
// credentials of its own surroundings.
func (s *Sessions) Of(_ context.Context, cluster azurev1.ClusterView) (*Session, error) {
	subscription := cluster.SubscriptionID
	if subscription == "" {
		subscription = os.Getenv(SubscriptionVariable)
	}
	if subscription == "" {
		return nil, cloud.Invalidf("spec.subscriptionID",
			"the infrastructure cluster names no subscription and the controller's settings have none: set spec.subscriptionID of the cluster")
	}
	where, err := s.configuration(cluster.Environment)
	if err != nil {
		return nil, err
	}
	at := place{endpoint: endpointOf(where), subscription: strings.ToLower(subscription), location: locationName(cluster.Location)}
	if cluster.Identity != nil {
		at.name = cluster.Identity.Name
	}
	key := strings.Join([]string{at.endpoint, at.subscription, at.location, cluster.Identity.Fingerprint()}, "\n")
	s.mu.Lock()
	defer s.mu.Unlock()
	if found, ok := s.made[at]; ok && found.Key == key {
		return found, nil
	}
	made, err := s.build(at, where, subscription, cluster.Identity)
	if err != nil {
		return nil, err
	}
	made.Key = key
	s.made[at] = made
	return made, nil
}

// build puts the clients over one transport: with its budgets, without the SDK's own retries, for those would hold a worker while
// they wait.
func (s *Sessions) build(at place, where azcloud.Configuration, subscription string, identity *azurev1.IdentityView) (*Session, error) {
	call := wire.Call{Account: at.subscription, Region: at.location}
	through := &sender{to: s.transport(at), host: hostOf(at.endpoint), call: call}
	credential, err := s.credential(where, &sender{to: through.to, call: call}, identity)
	if err != nil {
		return nil, err
	}
	options := &arm.ClientOptions{ClientOptions: clientOptions(where, through), DisableRPRegistration: true}
	options.InsecureAllowCredentialWithHTTP = isPlainHTTP(at.endpoint)
	options.PerCallPolicies = []policy.Policy{leavesOut{}, callAnnotator{by: identity, through: through}}
	made := &Session{SubscriptionID: subscription, Location: at.location, identity: identity}
	for _, each := range []func() error{
		func() (err error) {
			made.ScaleSets, err = armcompute.NewVirtualMachineScaleSetsClient(subscription, credential, options)
			return err
		},
		func() (err error) {
			made.ScaleSetVMs, err = armcompute.NewVirtualMachineScaleSetVMsClient(subscription, credential, options)
			return err
		},
		func() (err error) {
			made.VMs, err = armcompute.NewVirtualMachinesClient(subscription, credential, options)
			return err
		},
		func() (err error) {
			made.SKUs, err = armcompute.NewResourceSKUsClient(subscription, credential, options)
			return err
		},
		func() (err error) {
			made.RoleAssignments, err = armauthorization.NewRoleAssignmentsClient(subscription, credential, options)
			return err
		},
		func() (err error) {
			made.RoleDefinitions, err = armauthorization.NewRoleDefinitionsClient(credential, options)
			return err
		},
		func() (err error) {
			made.arm, err = arm.NewClient(applicationID, "v0.0.0", credential, options)
			return err
		},
	} {
		if err := each(); err != nil {
			return nil, &cloud.Error{Kind: cloud.Invalid, Code: "NoClient", Message: Clean(fmt.Sprintf("the SDK's clients can't be made: %v", err))}
		}
	}
	made.sets, made.shared = newSets(made.ScaleSets, subscription, s.options)
	made.grouped = newGrouped(made.ScaleSets, s.options.Now)
	made.sharedMachines = newMachines(made.VMs, made.sets, s.options)
	made.managed = newManagedClusters(made, s.options)
	return made, nil
}

// clientOptions are those of every client, and of its token source.
func clientOptions(where azcloud.Configuration, through policy.Transporter) policy.ClientOptions {
	return policy.ClientOptions{
		Cloud: where, Transport: through,
		Retry:     policy.RetryOptions{MaxRetries: -1},
		Telemetry: policy.TelemetryOptions{ApplicationID: applicationID},
	}
}

// transport is the one of a subscription in a location.
func (s *Sessions) transport(at place) *wire.Transport {
	at.name = ""
	if found, ok := s.transports[at]; ok {
		return found
	}
	s.transports[at] = wire.New(wire.Options{
		Base: s.options.Base, Budgets: budgetsOf, Remaining: remainingOf,
		Hook: s.options.Hook, Around: s.options.Around, Now: s.options.Now, Timeout: s.options.Timeout,
	})
	return s.transports[at]
}

// Close closes idle connections. The sessions can be used after it.
func (s *Sessions) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.transports {
		t.CloseIdleConnections()
	}
}
