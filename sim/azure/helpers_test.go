package azure_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/test/specs"
)

// token is a credential that anybody could have.
type token string

func (t token) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: string(t), ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// world is a simulated cloud and clients of the SDK for it.
type inventory struct {
	*testing.T
	cloud *azure.Cloud
	sets  *armcompute.VirtualMachineScaleSetsClient
	vms   *armcompute.VirtualMachineScaleSetVMsClient
	flex  *armcompute.VirtualMachinesClient
	skus  *armcompute.ResourceSKUsClient
	// last is the last answer that came.
	last *http.Response
}

// inBubble runs a test in virtual time.
func inBubble(t *testing.T, o azure.Options, f func(*inventory)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newInventory(t, o)
		defer func() { w.must(w.cloud.Close()) }()
		f(w)
	})
}

func newInventory(t *testing.T, o azure.Options) *inventory {
	t.Helper()
	if o.Limits == nil {
		o.Limits = azure.Limits{}
	}
	c, err := azure.New(o)
	if err != nil {
		t.Fatal(err)
	}
	w := &inventory{T: t, cloud: c}
	w.connect(token("anybody"))
	return w
}

// checked returns a transport to a simulator that holds its answers against what Azure publishes.
func checked(t testing.TB, h http.Handler) http.RoundTripper {
	return specs.Azure().Watch(sim.Transport{Handler: h}, func(err error) { t.Errorf("want answers as published: %v", err) })
}

// Do carries requests and keeps the answers.
func (w *inventory) Do(r *http.Request) (*http.Response, error) {
	resp, err := checked(w.T, w.cloud).RoundTrip(r)
	w.last = resp
	return resp, err
}

func (w *inventory) connect(cred azcore.TokenCredential) {
	o := &arm.ClientOptions{DisableRPRegistration: true, ClientOptions: policy.ClientOptions{
		Cloud: cloud.Configuration{
			ActiveDirectoryAuthorityHost: "https://login.sim/",
			Services: map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: {Endpoint: "http://arm.sim",
				Audience: "https://management.sim"}},
		},
		InsecureAllowCredentialWithHTTP: true, Transport: w, Retry: policy.RetryOptions{MaxRetries: -1},
	}}
	f, err := armcompute.NewClientFactory(azure.SubscriptionID, cred, o)
	w.must(err)
	w.sets, w.vms, w.flex, w.skus = f.NewVirtualMachineScaleSetsClient(), f.NewVirtualMachineScaleSetVMsClient(), f.NewVirtualMachinesClient(),
		f.NewResourceSKUsClient()
}

func (w *inventory) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// group is the default subscription's first one.
func group() azure.Group { return azure.DefaultSubscription().Groups[0] }

// example is a small scale set.
func example(t *testing.T, mode, name string, capacity int,
	changes ...func(*armcompute.VirtualMachineScaleSet)) armcompute.VirtualMachineScaleSet {
	t.Helper()
	var out armcompute.VirtualMachineScaleSet
	if err := out.UnmarshalJSON([]byte(written(t, azure.Example(azure.SubscriptionID, group(), mode, name, capacity)))); err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		c(&out)
	}
	return out
}

// put makes or changes a scale set and waits for the end.
func (w *inventory) put(set armcompute.VirtualMachineScaleSet, name string) (armcompute.VirtualMachineScaleSet, error) {
	w.Helper()
	p, err := w.sets.BeginCreateOrUpdate(w.Context(), azure.ResourceGroup, name, set, nil)
	if err != nil {
		return armcompute.VirtualMachineScaleSet{}, err
	}
	r, err := finish(w, p)
	return r.VirtualMachineScaleSet, err
}

// create makes a scale set that must work.
func (w *inventory) create(mode, name string, capacity int,
	changes ...func(*armcompute.VirtualMachineScaleSet)) armcompute.VirtualMachineScaleSet {
	w.Helper()
	out, err := w.put(example(w.T, mode, name, capacity, changes...), name)
	w.must(err)
	return out
}

// finish waits for an operation.
func finish[R any](w *inventory, p *runtime.Poller[R]) (R, error) {
	return p.PollUntilDone(w.Context(), &runtime.PollUntilDoneOptions{Frequency: 10 * time.Second})
}

func (w *inventory) patch(name string, u armcompute.VirtualMachineScaleSetUpdate) (armcompute.VirtualMachineScaleSet, error) {
	w.Helper()
	p, err := w.sets.BeginUpdate(w.Context(), azure.ResourceGroup, name, u, nil)
	if err != nil {
		return armcompute.VirtualMachineScaleSet{}, err
	}
	r, err := finish(w, p)
	return r.VirtualMachineScaleSet, err
}

func (w *inventory) get(name string) armcompute.VirtualMachineScaleSet {
	w.Helper()
	r, err := w.sets.Get(w.Context(), azure.ResourceGroup, name, nil)
	w.must(err)
	return r.VirtualMachineScaleSet
}

// machines are those of a scale set, by its list.
func (w *inventory) machines(name string) []*armcompute.VirtualMachineScaleSetVM {
	w.Helper()
	var out []*armcompute.VirtualMachineScaleSetVM
	p := w.vms.NewListPager(azure.ResourceGroup, name, &armcompute.VirtualMachineScaleSetVMsClientListOptions{Expand: to.Ptr("instanceView")})
	for p.More() {
		page, err := p.NextPage(w.Context())
		w.must(err)
		out = append(out, page.Value...)
	}
	return out
}

// flexible are the virtual machines of a flexible scale set.
func (w *inventory) flexible(name string) []*armcompute.VirtualMachine {
	w.Helper()
	var out []*armcompute.VirtualMachine
	filter := "'virtualMachineScaleSet/id' eq '" + *w.get(name).ID + "'"
	p := w.flex.NewListPager(azure.ResourceGroup, &armcompute.VirtualMachinesClientListOptions{Filter: &filter,
		Expand: to.Ptr(armcompute.ExpandTypeForListVMsInstanceView)})
	for p.More() {
		page, err := p.NextPage(w.Context())
		w.must(err)
		out = append(out, page.Value...)
	}
	return out
}

// set returns the simulator's state of a scale set.
func (w *inventory) set(name string) compute.Set {
	w.Helper()
	for _, s := range w.cloud.State().Sets {
		if s.Name == name {
			return s
		}
	}
	w.Fatalf("want a scale set %s, got %+v", name, w.cloud.State().Sets)
	return compute.Set{}
}

// refused holds an error against a status, a code and words.
func (w *inventory) refused(err error, status int, code, words string) {
	w.Helper()
	e, isResponse := errors.AsType[*azcore.ResponseError](err)
	if !isResponse || e.StatusCode != status || e.ErrorCode != code || !strings.Contains(e.Error(), words) {
		w.Errorf("want %d %s with %q, got %v", status, code, words, err)
	}
}

func check[T comparable](t *testing.T, about string, want, got T) {
	t.Helper()
	if want != got {
		t.Errorf("%s: want %v, got %v", about, want, got)
	}
}
