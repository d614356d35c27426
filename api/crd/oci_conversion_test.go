package crd_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"github.com/muster-project/muster/api/oci/v1beta1"
	"github.com/muster-project/muster/api/oci/v1beta2"
)

// ociObject is a pointer to an object of either version.
type ociObject[T any] interface {
	pointer[T]
	metav1.Object
	DeepCopy() *T
}

// ociOlder is a pointer to an object of v1beta1.
type ociOlder[T any] interface {
	ociObject[T]
	conversion.Convertible
}

// ociStored is a pointer to an object of v1beta2.
type ociStored[T any] interface {
	ociObject[T]
	conversion.Hub
}

// TestConversionOCI holds that an object that is read as v1beta1 and written back is stored as it was, and that one that is written as
// v1beta1 is read as it was.
func TestConversionOCI(t *testing.T) {
	t.Parallel()
	t.Run("OCIMachinePool", ociSurvives[v1beta1.OCIMachinePool, v1beta2.OCIMachinePool])
	t.Run("OCIManagedMachinePool", ociSurvives[v1beta1.OCIManagedMachinePool, v1beta2.OCIManagedMachinePool])
	t.Run("OCIManagedMachinePoolTemplate", ociSurvives[v1beta1.OCIManagedMachinePoolTemplate, v1beta2.OCIManagedMachinePoolTemplate])
}

func ociSurvives[W, S any, PW ociOlder[W], PS ociStored[S]](t *testing.T) {
	t.Parallel()
	fill := filler()
	for round := range rounds() {
		written, stored := PW(new(W)), PS(new(S))
		fill.Fill(written)
		ociOlderSurvives[W, S, PW, PS](t, written)
		fill.Fill(stored)
		ociStoredSurvives[W, S, PW, PS](t, stored)
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
}

// FuzzOCIManifests holds that a manifest of either version of an instance pool loses nothing on the way to the other version and back, and
// that no annotation can break an object.
func FuzzOCIManifests(f *testing.F) {
	for _, text := range []string{
		`spec: {instanceConfiguration: {shape: VM.Standard.E4.Flex, instanceSourceViaImageConfig: {imageId: a}, shapeConfig: {ocpus: "1"}, metadata: {ssh_authorized_keys: ""}}}`,
		`spec: {instanceConfiguration: {isPvEncryptionInTransitEnabled: false, capacityReservationId: "", extendedMetadata: {a: [1, {b: null}], c: text}}}`,
		`spec: {placementDetails: [{availabilityDomain: 2}], instanceConfiguration: {platformConfig: {platformConfigType: AMD_VM, amdVmPlatformConfig: {}, amdMilanBmPlatformConfig: {isSecureBootEnabled: true, percentageOfCoresEnabled: 50}}}}`,
		`{metadata: {annotations: {cluster.x-k8s.io/conversion-data: '{"spec":{},"isPvEncryptionInTransitEnabledAbsent":true}'}}, spec: {instanceConfiguration: {isPvEncryptionInTransitEnabled: true}}}`,
		`{metadata: {annotations: {cluster.x-k8s.io/conversion-data: "null", a: b}}}`,
	} {
		f.Add([]byte(text))
	}
	fuzzVersions(f, ociOlderSurvives[v1beta1.OCIMachinePool, v1beta2.OCIMachinePool],
		ociStoredSurvives[v1beta1.OCIMachinePool, v1beta2.OCIMachinePool])
}

// FuzzOCIManagedManifests holds the same for node pools.
func FuzzOCIManagedManifests(f *testing.F) {
	for _, text := range []string{
		`spec: {version: v1.34.1, nodeShape: VM.Standard.E4.Flex, sshPublicKey: "", nodeSourceViaImage: {imageId: "", bootVolumeSizeInGBs: 50}, nodeShapeConfig: {ocpus: "1"}}`,
		`spec: {nodePoolNodeConfig: {nodePoolPodNetworkOptionDetails: {cniType: FLANNEL_OVERLAY, vcnIpNativePodNetworkOptions: {}}}, nodePoolCyclingDetails: {isNodeCyclingEnabled: true, maximumSurge: "1"}}`,
		`{metadata: {annotations: {cluster.x-k8s.io/conversion-data: '{"spec":{"nodePoolCyclingDetails":{"maximumSurge":"2"}},"status":{"ready":false}}'}}, spec: {}}`,
		`{metadata: {annotations: {cluster.x-k8s.io/conversion-data: "{"}}}`,
	} {
		f.Add([]byte(text))
	}
	fuzzVersions(f, ociOlderSurvives[v1beta1.OCIManagedMachinePool, v1beta2.OCIManagedMachinePool],
		ociStoredSurvives[v1beta1.OCIManagedMachinePool, v1beta2.OCIManagedMachinePool])
}

// TestConversionOCIAside holds what is kept aside, that nothing is where v1beta1 has a field for all of it, and that a spoilt annotation
// and another kind are refused by name.
func TestConversionOCIAside(t *testing.T) {
	t.Parallel()
	yes, surge := true, v1beta2.NodeCount("2")
	pool := &v1beta2.OCIManagedMachinePool{}
	pool.Spec.NodePoolCyclingDetails = &v1beta2.NodePoolCyclingDetails{IsNodeCyclingEnabled: &yes, MaximumSurge: &surge}
	template := &v1beta2.OCIManagedMachinePoolTemplate{}
	template.Spec.Template.Spec = pool.Spec
	for _, c := range []struct {
		why    string
		stored conversion.Hub
		older  ociConvertible
		want   string
	}{
		{"cycling is newer", pool, &v1beta1.OCIManagedMachinePool{},
			`{"spec":{"nodePoolCyclingDetails":{"isNodeCyclingEnabled":true,"maximumSurge":"2"}}}`},
		{"cycling of a template is newer", template, &v1beta1.OCIManagedMachinePoolTemplate{},
			`{"spec":{"template":{"spec":{"nodePoolCyclingDetails":{"isNodeCyclingEnabled":true,"maximumSurge":"2"}}}}}`},
		{"all of it is older", &v1beta2.OCIManagedMachinePool{}, &v1beta1.OCIManagedMachinePool{}, ""},
		{"v1beta1 has no word for no value", &v1beta2.OCIMachinePool{}, &v1beta1.OCIMachinePool{},
			`{"isPvEncryptionInTransitEnabledAbsent":true}`},
	} {
		if err := c.older.ConvertFrom(c.stored); err != nil {
			t.Fatalf("%s: %v", c.why, err)
		}
		if got := c.older.GetAnnotations()[conversionData]; got != c.want {
			t.Errorf("%s: want %s, got %s", c.why, c.want, got)
		}
		for _, err := range []error{c.older.ConvertTo(otherHub{}), c.older.ConvertFrom(otherHub{})} {
			if err == nil || !strings.Contains(err.Error(), "found crd_test.otherHub") {
				t.Errorf("another kind: got %v, want an error that names it", err)
			}
		}
		c.older.SetAnnotations(map[string]string{conversionData: "{"})
		if err := c.older.ConvertTo(c.stored); err == nil || !strings.Contains(err.Error(), "metadata.annotations["+conversionData+"]") {
			t.Errorf("a spoilt annotation: got %v, want an error that names it", err)
		}
	}
}

// ociConvertible is an object of v1beta1.
type ociConvertible interface {
	conversion.Convertible
	metav1.Object
}

// TestConversionOCIEncryption holds that the default of v1beta1, true, reaches no object that was stored without a value, and that what is
// written as v1beta1 is stored.
func TestConversionOCIEncryption(t *testing.T) {
	t.Parallel()
	const absent = `{"isPvEncryptionInTransitEnabledAbsent":true}`
	for _, c := range []struct{ why, aside, older, want string }{
		{"read and written back", absent, "false", "null"},
		{"switched on in v1beta1", absent, "true", "true"},
		{"written as v1beta1", "", "false", "false"},
		{"the default of v1beta1", "", "true", "true"},
	} {
		older, stored := &v1beta1.OCIMachinePool{}, &v1beta2.OCIMachinePool{}
		if c.aside != "" {
			older.Annotations = map[string]string{conversionData: c.aside}
		}
		if err := json.Unmarshal([]byte(c.older), &older.Spec.InstanceConfiguration.IsPvEncryptionInTransitEnabled); err != nil {
			t.Fatal(err)
		}
		if err := older.ConvertTo(stored); err != nil {
			t.Fatal(err)
		}
		if got, _ := json.Marshal(stored.Spec.InstanceConfiguration.IsPvEncryptionInTransitEnabled); string(got) != c.want {
			t.Errorf("%s: want %s, got %s", c.why, c.want, got)
		}
	}
}

func ociOlderSurvives[W, S any, PW ociOlder[W], PS ociStored[S]](t *testing.T, written PW) {
	t.Helper()
	written = overTheWire(t, (*W)(written))
	if pool, ok := any(written).(*v1beta1.OCIMachinePool); ok && pool.Spec.InstanceConfiguration.IsPvEncryptionInTransitEnabled == nil {
		// The schema always fills it in.
		pool.Spec.InstanceConfiguration.IsPvEncryptionInTransitEnabled = new(bool)
	}
	stored, read, again := PS(new(S)), PW(new(W)), PS(new(S))
	if err := written.ConvertTo(stored); err != nil {
		if !strings.Contains(err.Error(), conversionData) {
			t.Fatalf("want an error that names the field, got %v", err)
		}
		return
	}
	if err := read.ConvertFrom(PS(overTheWire(t, (*S)(stored)))); err != nil {
		t.Fatalf("want what is stored to be readable, got %v", err)
	}
	if err := PW(overTheWire(t, (*W)(read))).ConvertTo(again); err != nil {
		t.Fatalf("want what was read to be written back, got %v", err)
	}
	same(t, "stored, read and stored again", overTheWire(t, (*S)(stored)), overTheWire(t, (*S)(again)))
	ociBare(written)
	ociBare(read)
	same(t, "written and read", (*W)(written), overTheWire(t, (*W)(read)))
}

func ociStoredSurvives[W, S any, PW ociOlder[W], PS ociStored[S]](t *testing.T, stored PS) {
	t.Helper()
	stored = overTheWire(t, (*S)(stored))
	ociBare(stored)
	before := stored.DeepCopy()
	read, again := PW(new(W)), PS(new(S))
	if err := read.ConvertFrom(stored); err != nil {
		t.Fatalf("want every stored object to be readable, got %v", err)
	}
	if diff := cmp.Diff(before, (*S)(stored)); diff != "" {
		t.Fatalf("reading changed what was read (-before +after):\n%s", diff)
	}
	if err := PW(overTheWire(t, (*W)(read))).ConvertTo(again); err != nil {
		t.Fatalf("want what was read to be written back, got %v", err)
	}
	same(t, "stored, read and stored again", (*S)(stored), overTheWire(t, (*S)(again)))
}

// ociBare takes what was kept aside out of the metadata.
func ociBare(o metav1.Object) {
	annotations := o.GetAnnotations()
	delete(annotations, conversionData)
	if len(annotations) == 0 {
		annotations = nil
	}
	o.SetAnnotations(annotations)
}
