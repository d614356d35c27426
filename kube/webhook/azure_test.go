package webhook_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	azureadmission "github.com/muster-project/muster/providers/azure/admission"
)

// validKey is a public key as an object has it.
var validKey = base64.StdEncoding.EncodeToString(
	[]byte("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me@home"))

func azurePool(change ...func(*azurev1.AzureMachinePool)) *azurev1.AzureMachinePool {
	p := &azurev1.AzureMachinePool{
		TypeMeta:   metav1.TypeMeta{APIVersion: azurev1.GroupVersion.String(), Kind: azurev1.AzureMachinePoolKind},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"},
		Spec: azurev1.AzureMachinePoolSpec{Location: "westus2", OrchestrationMode: azurev1.UniformOrchestrationMode,
			Template: azurev1.AzureMachinePoolMachineTemplate{VMSize: "S", SSHPublicKey: validKey, OSDisk: azurev1.OSDisk{OSType: azurev1.LinuxOS}}},
	}
	for _, f := range change {
		f(p)
	}
	return p
}

func withKey(text string) func(*azurev1.AzureMachinePool) {
	return func(p *azurev1.AzureMachinePool) { p.Spec.Template.SSHPublicKey = text }
}

func windows(p *azurev1.AzureMachinePool) { p.Spec.Template.OSDisk.OSType = azurev1.WindowsOS }
func flexible(p *azurev1.AzureMachinePool) {
	p.Spec.OrchestrationMode = azurev1.FlexibleOrchestrationMode
}
func large(p *azurev1.AzureMachinePool)  { p.Spec.Template.VMSize = "L" }
func listed(p *azurev1.AzureMachinePool) { p.Spec.ProviderIDList = []string{"a"} }
func deleting(p *azurev1.AzureMachinePool) {
	p.DeletionTimestamp, p.Finalizers = &metav1.Time{}, []string{"x"}
	*p.DeletionTimestamp = metav1.Unix(1, 0)
}

func azureScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{azurev1.AddToScheme, clusterv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

func encoded(t *testing.T, o any) runtime.RawExtension {
	t.Helper()
	data, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: data}
}

// azureRequest returns the admission request of an API server; old is nil for a new object.
func azureRequest(t *testing.T, old, p *azurev1.AzureMachinePool) admission.Request {
	t.Helper()
	r := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: "1", Kind: metav1.GroupVersionKind{Group: azurev1.GroupVersion.Group, Version: "v1beta1", Kind: azurev1.AzureMachinePoolKind},
		Operation: admissionv1.Create, Object: encoded(t, p),
	}}
	if old != nil {
		r.Operation, r.OldObject = admissionv1.Update, encoded(t, old)
	}
	return r
}

func TestKeysOfAzurePools(t *testing.T) {
	t.Parallel()
	scheme := azureScheme(t)
	for name, tc := range map[string]struct {
		reason string
		old, p *azurev1.AzureMachinePool
		// same is true if nothing is changed, back that the old key comes back; otherwise a key is made.
		same, back bool
	}{
		"new":           {reason: "Azure wants one", p: azurePool(withKey(""))},
		"new with key":  {reason: "it is the user's", p: azurePool(), same: true},
		"Windows":       {reason: "it has no use there", p: azurePool(withKey(""), windows), same: true},
		"taken out":     {reason: "another key would replace every machine", old: azurePool(), p: azurePool(withKey("")), back: true},
		"never had one": {reason: "an object from before", old: azurePool(withKey("")), p: azurePool(withKey(""), large)},
		"another":       {reason: "it is the user's", old: azurePool(), p: azurePool(withKey("x")), same: true},
		"being deleted": {reason: "nothing is made any more", old: azurePool(withKey("")), p: azurePool(withKey(""), deleting), same: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := azureadmission.Defaulter(scheme).Handle(t.Context(), azureRequest(t, tc.old, tc.p))
			if !answer.Allowed {
				t.Fatalf("%s: %v", tc.reason, answer.Result)
			}
			if tc.same {
				if len(answer.Patches) > 0 {
					t.Errorf("%s: want nothing changed, got %v", tc.reason, answer.Patches)
				}
				return
			}
			if len(answer.Patches) != 1 || answer.Patches[0].Path != "/spec/template/sshPublicKey" {
				t.Fatalf("%s: want a key and nothing else, got %v", tc.reason, answer.Patches)
			}
			got, _ := answer.Patches[0].Value.(string)
			taken := azureadmission.Validator(scheme, nil).Handle(t.Context(), azureRequest(t, nil, azurePool(withKey(got))))
			if !taken.Allowed || got == "" || tc.back != (got == validKey) {
				t.Errorf("%s: want a key, the old one %t, got %q: %v", tc.reason, tc.back, got, taken.Result)
			}
		})
	}
}

func ofVersion(name, version string) *clusterv1.MachinePool {
	mp := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "mp"}}
	mp.Spec.Template.Spec.Version = version
	mp.Spec.Template.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: azurev1.GroupVersion.Group,
		Kind: azurev1.AzureMachinePoolKind, Name: name}
	return mp
}

func TestAzurePoolsAreValidated(t *testing.T) {
	t.Parallel()
	scheme := azureScheme(t)
	for name, tc := range map[string]struct {
		reason  string
		old, p  *azurev1.AzureMachinePool
		parents []client.Object
		refused []string
	}{
		"the least": {reason: "nothing is wrong with it", p: azurePool()},
		"no key":    {reason: "the defaulting webhook is switched off; the pool is held", p: azurePool(withKey(""))},
		"no base64": {reason: "upstream's words", p: azurePool(withKey("%")),
			refused: []string{"spec.template.sshPublicKey", "the SSH public key is not properly base64 encoded"}},
		"no key text": {reason: "upstream's words", p: azurePool(withKey("aGVsbG8=")),
			refused: []string{"spec.template.sshPublicKey", "the SSH public key is not valid"}},
		"bad key left": {reason: "an object that is there must stay changeable", old: azurePool(withKey("%")), p: azurePool(withKey("%"), large)},
		"bad key set": {reason: "a change is looked at", old: azurePool(), p: azurePool(withKey("%")),
			refused: []string{"spec.template.sshPublicKey"}},

		"flexible": {reason: "the first version that knows it", p: azurePool(flexible), parents: []client.Object{ofVersion("p", "v1.26.0")}},
		"flexible too old": {reason: "upstream's words", p: azurePool(flexible), parents: []client.Object{ofVersion("p", "v1.22.0")},
			refused: []string{"spec.orchestrationMode", "specified Kubernetes version 1.22.0 must be >= 1.26.0 for Flexible orchestration mode"}},
		"flexible of no version": {reason: "upstream's words", p: azurePool(flexible), parents: []client.Object{ofVersion("p", "")},
			refused: []string{"spec.orchestrationMode", "could not find Kubernetes version in MachinePool"}},
		"flexible alone": {reason: "manifests are applied in any order", p: azurePool(flexible)},
		"flexible of another": {reason: "that one is not its parent", p: azurePool(flexible),
			parents: []client.Object{ofVersion("q", "v1.22.0")}},
		"uniform and old": {reason: "the seed", p: azurePool(), parents: []client.Object{ofVersion("p", "v1.22.0")}},
		"flexible changed": {reason: "on update too", old: azurePool(flexible), p: azurePool(flexible, large),
			parents: []client.Object{ofVersion("p", "v1.22.0")}, refused: []string{"must be >= 1.26.0"}},
		"a controller's write": {reason: "the version was changed after it, and the controller has to go on writing", old: azurePool(flexible),
			p: azurePool(flexible, listed), parents: []client.Object{ofVersion("p", "v1.22.0")}},
		"being deleted": {reason: "faults of the object do not prevent its deletion", old: azurePool(flexible),
			p: azurePool(flexible, large, deleting), parents: []client.Object{ofVersion("p", "v1.22.0")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(tc.parents...).Build()
			answer := azureadmission.Validator(scheme, reader).Handle(t.Context(), azureRequest(t, tc.old, tc.p))
			if answer.Allowed != (tc.refused == nil) {
				t.Fatalf("%s: want it refused with %q, got %v", tc.reason, tc.refused, answer.Result)
			}
			for _, part := range tc.refused {
				if !strings.Contains(answer.Result.Message, part) {
					t.Errorf("%s: want %q in %q", tc.reason, part, answer.Result.Message)
				}
			}
		})
	}
	gone := azureRequest(t, azurePool(), azurePool())
	gone.Operation = admissionv1.Delete
	if answer := azureadmission.Validator(scheme, nil).Handle(t.Context(), gone); !answer.Allowed {
		t.Errorf("want every deletion to pass, got %v", answer.Result)
	}
}

func TestWarningsOfAzurePools(t *testing.T) {
	t.Parallel()
	scheme, yes := azureScheme(t), true
	deallocate := azurev1.SpotEvictionPolicyDeallocate
	image := func(i azurev1.Image) func(*azurev1.AzureMachinePool) {
		return func(p *azurev1.AzureMachinePool) { p.Spec.Template.Image = &i }
	}
	for name, tc := range map[string]struct {
		reason string
		change func(*azurev1.AzureMachinePool)
		// want are the beginnings of the warnings, in order.
		want []string
	}{
		"nothing": {"what is well said is taken in silence", func(*azurev1.AzureMachinePool) {}, nil},
		"deprecated": {"each with what comes in its place", func(p *azurev1.AzureMachinePool) {
			p.Spec.Template.SubnetName, p.Spec.Template.AcceleratedNetworking, p.Spec.RoleAssignmentName = "a", &yes, "n"
		}, []string{"spec.template.subnetName: is deprecated", "spec.template.acceleratedNetworking: is deprecated",
			"spec.roleAssignmentName: is deprecated"}},
		"no effect": {"each interface says it", func(p *azurev1.AzureMachinePool) {
			p.Spec.Template.AcceleratedNetworking, p.Spec.Template.NetworkInterfaces = &yes, []azurev1.NetworkInterface{{}}
		}, []string{"spec.template.acceleratedNetworking: has no effect"}},
		"key of Windows": {"it has no effect", windows, []string{"spec.template.sshPublicKey: has no effect on Windows"}},
		"contributor": {"the default role does harm", func(p *azurev1.AzureMachinePool) { p.Spec.Identity = azurev1.VMIdentitySystemAssigned },
			[]string{"spec.identity: without"}},
		"deallocated": {"it is replaced all the same", func(p *azurev1.AzureMachinePool) {
			p.Spec.Template.SpotVMOptions = &azurev1.SpotVMOptions{EvictionPolicy: &deallocate}
		}, []string{"spec.template.spotVMOptions.evictionPolicy"}},
		"shared": {"and newest", image(azurev1.Image{SharedGallery: &azurev1.AzureSharedGalleryImage{Version: "latest"}}),
			[]string{"spec.template.image.sharedGallery: is deprecated", "spec.template.image: version latest"}},
		"newest": {"what it stands for changes", image(azurev1.Image{Marketplace: &azurev1.AzureMarketplaceImage{Version: "latest"}}),
			[]string{"spec.template.image: version latest"}},
		"newest, own": {"what it stands for changes", image(azurev1.Image{ComputeGallery: &azurev1.AzureComputeGalleryImage{Version: "latest"}}),
			[]string{"spec.template.image: version latest"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := azureadmission.Validator(scheme, nil).Handle(t.Context(), azureRequest(t, nil, azurePool(tc.change)))
			got := answer.Warnings
			ok := answer.Allowed && len(got) == len(tc.want)
			for k := range got {
				ok = ok && strings.HasPrefix(got[k], tc.want[k])
			}
			if !ok {
				t.Errorf("%s:\n got %q\nwant %q", tc.reason, got, tc.want)
			}
		})
	}
}
