package azure_test

import (
	"hash/crc32"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	azcloud "github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	azfake "github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	simazure "github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/test/permissions/allowed"
)

const (
	endpoint = "http://simulated.azure"
	// version is one for which the ecosystem publishes images in its gallery.
	version   = "v1.34.1"
	setName   = "pool"
	bootstrap = "#cloud-config\nruncmd: [\"kubeadm join\"]\n"
	// publicKey is a key that belongs to no user, as sshPublicKey has it.
	publicKey = "c3NoLXJzYSBBQUFBQjNOemFDMXljMkVBQUFBREFRQUJBQUFBZ1FDN3N0Z0VRSHZLZ29pd3ZFbjRVNHhrR0JhUG5YN1hpd0RmRFlyWEJ2d3pjckhRNkRQenkw" +
		"M1h4bnVLWWRTdDF2ZnV3dm1vbklheFl1cEZYZ0FCQ0ZnSFNxTmVpekRmNHVoUjVUY2hnN2NpZVVVbmFPeGtyR1ZHWDVadUFCZkhhUlBKTmtiMlZ2TDhDcjZO" +
		"cUJxM0tqTmF1T2w2TFp3dm5UUlBiTVIxd3c9PSBub2JvZHkK"
)

// modes are both orchestration modes: whatever is tested is tested in each.
var modes = []azurev1.OrchestrationModeType{azurev1.UniformOrchestrationMode, azurev1.FlexibleOrchestrationMode}

// world is a simulated Azure with the driver's wire to it.
type world struct {
	t      *testing.T
	cloud  *simazure.Cloud
	wire   *tap
	driver *azure.Driver
	// sets and machines are another client of the subscription.
	sets     *armcompute.VirtualMachineScaleSetsClient
	machines *armcompute.VirtualMachineScaleSetVMsClient
	mode     azurev1.OrchestrationModeType
}

// inModes runs a test in a fresh world of each mode, in virtual time. With -short the tests take turns: each has one of the modes.
func inModes(t *testing.T, test func(*testing.T, *world)) {
	t.Helper()
	if !testing.Short() {
		inBothModes(t, test)
		return
	}
	inWorld(t, modes[crc32.ChecksumIEEE([]byte(t.Name()))%uint32(len(modes))], test)
}

// inBothModes runs a test in a fresh world of each mode with -short, too.
func inBothModes(t *testing.T, test func(*testing.T, *world)) {
	t.Helper()
	for _, mode := range modes {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			inWorld(t, mode, test)
		})
	}
}

// inWorld runs a test in a fresh world in which some switches are on, in virtual time.
func inWorld(t *testing.T, mode azurev1.OrchestrationModeType, test func(*testing.T, *world), on ...sim.Switch) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		made, err := simazure.New(simazure.Options{Seed: 1, Switches: on})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := made.Close(); err != nil {
				t.Errorf("close the simulator: %v", err)
			}
		}()
		w := &world{t: t, cloud: made, wire: &tap{next: sim.Transport{Handler: made}}, mode: mode}
		w.driver = w.newDriver()
		w.sets, w.machines = byHand(t, made)
		test(t, w)
	})
}

// byHand are clients of a user who changes the account out of band.
func byHand(t *testing.T, made *simazure.Cloud) (*armcompute.VirtualMachineScaleSetsClient, *armcompute.VirtualMachineScaleSetVMsClient) {
	t.Helper()
	options := &arm.ClientOptions{DisableRPRegistration: true, ClientOptions: policy.ClientOptions{
		Cloud: azcloud.Configuration{ActiveDirectoryAuthorityHost: "https://login.invalid/",
			Services: map[azcloud.ServiceName]azcloud.ServiceConfiguration{
				azcloud.ResourceManager: {Endpoint: endpoint, Audience: endpoint},
			}},
		Transport: &http.Client{Transport: sim.Transport{Handler: made}}, Retry: policy.RetryOptions{MaxRetries: -1},
		InsecureAllowCredentialWithHTTP: true,
	}}
	sets, err := armcompute.NewVirtualMachineScaleSetsClient(simazure.SubscriptionID, &azfake.TokenCredential{}, options)
	if err != nil {
		t.Fatal(err)
	}
	machines, err := armcompute.NewVirtualMachineScaleSetVMsClient(simazure.SubscriptionID, &azfake.TokenCredential{}, options)
	if err != nil {
		t.Fatal(err)
	}
	return sets, machines
}

func (w *world) newDriver() *azure.Driver {
	d, err := newDriver(w.wire)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// newDriver makes a driver whose credentials allow what package permissions says, and nothing else.
func newDriver(over http.RoundTripper) (*azure.Driver, error) {
	role, err := allowed.New(everything)
	if err != nil {
		return nil, err
	}
	return azure.New(azure.Options{
		Endpoint: endpoint, Base: role.Wrap(over),
		Credential: func(azcloud.Configuration, *azurev1.IdentityView) (azcore.TokenCredential, error) {
			return &azfake.TokenCredential{}, nil
		},
	})
}

// network returns the network of the simulated subscription, as an infrastructure cluster would show it.
func network() azurev1.ClusterView {
	return azurev1.ClusterView{
		Name: simazure.ClusterName, ClusterName: simazure.ClusterName,
		SubscriptionID: simazure.SubscriptionID, ResourceGroup: simazure.ResourceGroup, Location: simazure.Location,
		Environment: azurev1.PublicCloud,
		Vnet:        azurev1.VnetView{Name: simazure.VirtualNetwork, ResourceGroup: simazure.ResourceGroup},
		Subnets: []azurev1.SubnetView{
			{Name: simazure.NodeSubnet, Role: azurev1.SubnetRoleNode}, {Name: simazure.ControlPlaneSubnet, Role: azurev1.SubnetRoleControlPlane},
		},
		NodeOutboundLB: simazure.ClusterName, NodeOutboundBackendPool: simazure.ClusterName + "-outboundBackendPool",
		FailureDomains: []string{"1", "2", "3"}, ControlPlaneVersion: version, Ready: true,
	}
}

// source is the specification of a small pool in the subscription.
func source(mode azurev1.OrchestrationModeType) *azurev1.MachinePoolSource {
	return &azurev1.MachinePoolSource{
		Cluster: network(),
		Pool: &azurev1.AzureMachinePoolSpec{
			Location: simazure.Location, OrchestrationMode: mode, AdditionalTags: azurev1.Tags{"team": "a"},
			Template: azurev1.AzureMachinePoolMachineTemplate{
				VMSize: simazure.VMSize, SSHPublicKey: publicKey,
				OSDisk: azurev1.OSDisk{
					OSType: "Linux", DiskSizeGB: new(int32(30)), CachingType: "ReadWrite",
					ManagedDisk: &azurev1.ManagedDiskParameters{StorageAccountType: "Premium_LRS"},
				},
			},
		},
	}
}

// aTarget is a small pool in the subscription, in three zones.
func (w *world) aTarget() azure.Target {
	return azure.Target{
		Owner:             cloud.Owner{ID: "0f6f8d5e-owner", Cluster: simazure.ClusterName, Namespace: "default", Name: setName},
		KubernetesVersion: version,
		Bootstrap:         cloud.NewBootstrap([]byte(bootstrap), "cloud-config"),
		FailureDomains:    []string{"1", "2", "3"},
		Spec:              source(w.mode),
	}
}

// with is the target with its specification changed.
func with(t azure.Target, change func(*azurev1.AzureMachinePoolSpec)) azure.Target {
	t.Spec = spec(change)(t.Spec)
	return t
}

// spec changes a copy of a specification.
func spec(change func(*azurev1.AzureMachinePoolSpec)) func(*azurev1.MachinePoolSource) *azurev1.MachinePoolSource {
	return func(s *azurev1.MachinePoolSource) *azurev1.MachinePoolSource {
		changed := *s
		changed.Pool = s.Pool.DeepCopy()
		change(changed.Pool)
		return &changed
	}
}

// settle lets pass what any move of the cloud takes.
func settle() {
	time.Sleep(40 * time.Minute)
	synctest.Wait()
}

func (w *world) observe(t azure.Target) pool.Observed {
	w.t.Helper()
	o, err := w.driver.Observe(w.t.Context(), t)
	if err != nil {
		w.t.Fatalf("observe: %v", err)
	}
	return o
}

func (w *world) start(t azure.Target, s pool.Step) {
	w.t.Helper()
	if err := w.driver.Start(w.t.Context(), t, s); err != nil {
		w.t.Fatalf("start %s: %v", s.Kind, err)
	}
}

// create makes the pool with so many machines and waits for them.
func (w *world) create(t azure.Target, size int) pool.Observed {
	w.t.Helper()
	w.observe(t)
	w.start(t, pool.Step{Kind: pool.CreateGroup, Size: size})
	settle()
	o := w.observe(t)
	if o.Group == nil || len(o.Instances) != size {
		w.t.Fatalf("want a group of %d, got %+v with %+v, issues %v", size, o.Group, o.Instances, o.Issues)
	}
	return o
}

// tap notes what goes over the wire.
type tap struct {
	next  http.RoundTripper
	mu    sync.Mutex
	calls []wire.Call
}

// RoundTrip notes the request and carries it.
func (t *tap) RoundTrip(req *http.Request) (*http.Response, error) {
	t.mu.Lock()
	t.calls = append(t.calls, wire.CallFrom(req.Context()))
	t.mu.Unlock()
	return t.next.RoundTrip(req)
}

// during are the requests that some work makes.
func (t *tap) during(work func()) []string {
	t.mu.Lock()
	before := len(t.calls)
	t.mu.Unlock()
	work()
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []string
	for _, c := range t.calls[before:] {
		list = append(list, c.String())
	}
	return list
}
