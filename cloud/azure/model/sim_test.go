package model_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	azcloud "github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	azfake "github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/sim"
	simazure "github.com/muster-project/muster/sim/azure"
)

// wire is a user who sends what the model says to a simulated Azure, and reads it back, by Azure's own clients.
type wire struct {
	t        *testing.T
	sets     *armcompute.VirtualMachineScaleSetsClient
	uniform  *armcompute.VirtualMachineScaleSetVMsClient
	flexible *armcompute.VirtualMachinesClient
	skus     *armcompute.ResourceSKUsClient
}

func newWire(t *testing.T, over http.Handler) wire {
	t.Helper()
	const endpoint = "http://simulated.azure"
	options := &arm.ClientOptions{DisableRPRegistration: true, ClientOptions: policy.ClientOptions{
		Cloud: azcloud.Configuration{ActiveDirectoryAuthorityHost: "https://login.invalid/",
			Services: map[azcloud.ServiceName]azcloud.ServiceConfiguration{
				azcloud.ResourceManager: {Endpoint: endpoint, Audience: endpoint},
			}},
		Transport: &http.Client{Transport: sim.Transport{Handler: over}}, Retry: policy.RetryOptions{MaxRetries: -1},
		InsecureAllowCredentialWithHTTP: true,
	}}
	factory, err := armcompute.NewClientFactory(simazure.SubscriptionID, &azfake.TokenCredential{}, options)
	if err != nil {
		t.Fatal(err)
	}
	return wire{t, factory.NewVirtualMachineScaleSetsClient(), factory.NewVirtualMachineScaleSetVMsClient(),
		factory.NewVirtualMachinesClient(), factory.NewResourceSKUsClient()}
}

// settled lets whatever was begun come to its end, and all that is to be started start.
func (w wire) settled() {
	time.Sleep(10 * time.Minute)
}

// size is what the catalogue says of a size.
func (w wire) size(name string) *armcompute.ResourceSKU {
	w.t.Helper()
	for pager := w.skus.NewListPager(nil); pager.More(); {
		page, err := pager.NextPage(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		for _, s := range page.Value {
			if ptr.Deref(s.Name, "") == name && ptr.Deref(s.ResourceType, "") == "virtualMachines" &&
				len(s.Locations) > 0 && *s.Locations[0] == simazure.Location {
				return s
			}
		}
	}
	w.t.Fatalf("want size %s in the catalogue", name)
	return nil
}

// input is what a model needs in the simulated network.
func (w wire) input(spec *azurev1.AzureMachinePoolSpec) model.Input {
	w.t.Helper()
	in := input(w.t, spec)
	c := &in.Source.Cluster
	c.SubscriptionID, c.ResourceGroup, c.Vnet = simazure.SubscriptionID, simazure.ResourceGroup,
		azurev1.VnetView{Name: simazure.VirtualNetwork, ResourceGroup: simazure.ResourceGroup}
	c.Subnets = []azurev1.SubnetView{{Name: simazure.NodeSubnet, Role: azurev1.SubnetRoleNode}}
	c.NodeOutboundLB, c.NodeOutboundBackendPool = simazure.ClusterName, simazure.ClusterName+"-outboundBackendPool"
	in.Size, in.FailureDomains = w.size(spec.Template.VMSize), []string{"2", "1"}
	return in
}

// began lets an operation that was begun come to its end.
func (w wire) began(_ any, err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	w.settled()
}

func (w wire) read(name string) model.Current {
	w.t.Helper()
	got, err := w.sets.Get(w.t.Context(), simazure.ResourceGroup, name, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return model.Read(got.VirtualMachineScaleSet)
}

// instances are what the machines of a scale set are told from.
func (w wire) instances(c model.Comparison, cur model.Current) []model.Instance {
	w.t.Helper()
	var out []model.Instance
	if ptr.Deref(cur.Set.Properties.OrchestrationMode, "") == armcompute.OrchestrationModeFlexible {
		for pager := w.flexible.NewListPager(simazure.ResourceGroup,
			&armcompute.VirtualMachinesClientListOptions{Filter: new("'virtualMachineScaleSet/id' eq '" + *cur.Set.ID + "'")}); pager.More(); {
			page, err := pager.NextPage(w.t.Context())
			if err != nil {
				w.t.Fatal(err)
			}
			for _, vm := range page.Value {
				out = append(out, c.Flexible(*vm))
			}
		}
		return out
	}
	for pager := w.uniform.NewListPager(simazure.ResourceGroup, *cur.Set.Name, nil); pager.More(); {
		page, err := pager.NextPage(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		for _, vm := range page.Value {
			out = append(out, c.Uniform(*vm))
		}
	}
	return out
}

// lives are specifications that one pool goes through; the simulated Azure takes all of them.
func lives(mode azurev1.OrchestrationModeType) []*azurev1.AzureMachinePoolSpec {
	plain := seed()
	plain.OrchestrationMode = mode
	plain.Template.SpotVMOptions = &azurev1.SpotVMOptions{}
	rich := plain.DeepCopy()
	rich.AdditionalTags = azurev1.Tags{"team": "pool", "more": "x"}
	t := &rich.Template
	t.VMSize = "Standard_D4s_v5"
	t.OSDisk.DiskSizeGB, t.OSDisk.CachingType = new(int32(64)), azurev1.CachingReadWrite
	t.DataDisks = []azurev1.DataDisk{
		{NameSuffix: "a", DiskSizeGB: 10, Lun: new(int32(7)), CachingType: azurev1.CachingReadOnly,
			ManagedDisk: &azurev1.ManagedDiskParameters{StorageAccountType: "Premium_LRS"}},
		{NameSuffix: "b", DiskSizeGB: 20},
	}
	t.Diagnostics = &azurev1.Diagnostics{Boot: &azurev1.BootDiagnostics{StorageAccountType: azurev1.UserManagedDiagnosticsStorage,
		UserManaged: &azurev1.UserManagedBootDiagnostics{StorageAccountURI: "https://mine.blob.core.windows.net/"}}}
	t.TerminateNotificationTimeout = new(7)
	t.SecurityProfile = &azurev1.SecurityProfile{EncryptionAtHost: new(true), SecurityType: azurev1.SecurityTypesTrustedLaunch,
		UefiSettings: &azurev1.UefiSettings{SecureBootEnabled: new(true), VTpmEnabled: new(true)}}
	t.SpotVMOptions.MaxPrice = new(resource.MustParse("0.25"))
	t.VMExtensions = []azurev1.VMExtension{{Name: "e", Publisher: "p", Version: "1.0", Settings: map[string]string{"a": "b"},
		ProtectedSettings: map[string]string{"password": "hunter2"}}}
	t.DisableVMBootstrapExtension = new(false)
	t.NetworkInterfaces = []azurev1.NetworkInterface{{PrivateIPConfigs: 2},
		{SubnetName: simazure.ControlPlaneSubnet, AcceleratedNetworking: new(false)}}
	other := rich.DeepCopy()
	other.AdditionalTags = azurev1.Tags{"team": "other"}
	other.Template.DataDisks, other.Template.NetworkInterfaces, other.Template.VMExtensions = other.Template.DataDisks[1:], nil, nil
	last := plain.DeepCopy()
	last.Template.OSDisk.DiskSizeGB = new(int32(64))
	return []*azurev1.AzureMachinePoolSpec{plain, rich, other, last}
}

// A pool goes from one specification to another by one request each, which a simulated Azure takes as it is; what it shows then is what was
// asked for, and machines are of the content that was asked for when they were made.
func TestOnTheWire(t *testing.T) {
	for _, mode := range []azurev1.OrchestrationModeType{azurev1.UniformOrchestrationMode, azurev1.FlexibleOrchestrationMode} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { live(t, mode) })
		})
	}
}

func live(t *testing.T, mode azurev1.OrchestrationModeType) {
	made, err := simazure.New(simazure.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = made.Close() }()
	w, past := newWire(t, made), map[string]bool{}
	for k, spec := range lives(mode) {
		in := w.input(spec)
		if err := model.Fits(in); err != nil {
			t.Fatalf("life %d: want it to fit, got %v", k, err)
		}
		m := build(t, in)
		if k == 0 {
			_, err = w.sets.BeginCreateOrUpdate(t.Context(), simazure.ResourceGroup, m.Name, m.Create(2), nil)
		} else {
			cur := w.read(m.Name)
			_, err = w.sets.BeginUpdate(t.Context(), simazure.ResourceGroup, m.Name, m.Change(cur),
				&armcompute.VirtualMachineScaleSetsClientBeginUpdateOptions{IfMatch: cur.Set.Etag})
		}
		if err != nil {
			t.Fatalf("life %d: %v", k, err)
		}
		w.settled()
		cur := w.read(m.Name)
		comparison := m.Against(cur)
		if s := comparison.State; s.Content != m.Content || len(s.Differs)+len(s.Drift) > 0 || cur.Capacity() != 2+max(0, k-1) {
			t.Errorf("life %d: want content %s with nothing to do and the size untouched, got %+v and %d", k, m.Content, s, cur.Capacity())
		}
		w.young(comparison, cur, past, m)
	}
}

// young makes one more machine, and looks at all of them.
func (w wire) young(comparison model.Comparison, cur model.Current, past map[string]bool, m *model.Model) {
	w.t.Helper()
	if len(past) > 0 {
		if _, err := w.sets.BeginUpdate(w.t.Context(), simazure.ResourceGroup, m.Name, model.Resize(cur, cur.Capacity()+1, nil),
			nil); err != nil {
			w.t.Fatal(err)
		}
		w.settled()
	}
	past[m.Content] = true
	now := 0
	for _, is := range w.instances(comparison, cur) {
		if !past[is.Content] {
			w.t.Errorf("want machines of the contents %v that there were, got %+v", past, is)
		}
		if is.Content == m.Content {
			now++
			if len(is.Differs)+len(is.InPlaceDrift) > 0 {
				w.t.Errorf("want a machine of the present content to differ in nothing, got %+v", is)
			}
		} else if len(is.Differs) == 0 {
			w.t.Errorf("want a machine of another content to say in what it differs, got %+v", is)
		}
	}
	if now == 0 {
		w.t.Errorf("want machines of content %s, got none", m.Content)
	}
}
