package crd_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/scaleway/v1alpha1"
	"github.com/muster-project/muster/api/scaleway/v1alpha2"
)

// TestConversionScalewayStoredSurvives holds that an object that is read as v1alpha1 and written back is stored as it was.
func TestConversionScalewayStoredSurvives(t *testing.T) {
	t.Parallel()
	fill := filler()
	for round := range rounds() {
		stored := &v1alpha2.ScalewayManagedMachinePool{}
		fill.Fill(stored)
		scalewayStoredSurvives(t, stored)
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
}

// TestConversionScalewayOlderSurvives holds that an object that is written as v1alpha1 is read back as it was, without an annotation.
func TestConversionScalewayOlderSurvives(t *testing.T) {
	t.Parallel()
	fill := filler()
	for round := range rounds() {
		written := &v1alpha1.ScalewayManagedMachinePool{}
		fill.Fill(written)
		scalewayOlderSurvives(t, written)
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
}

// TestConversionScalewayAside holds which fields the annotation keeps, that it is absent if v1alpha1 has fields for all values, and that an
// invalid annotation and another kind are rejected by name.
func TestConversionScalewayAside(t *testing.T) {
	t.Parallel()
	stored := &v1alpha2.ScalewayManagedMachinePool{Spec: v1alpha2.ScalewayManagedMachinePoolSpec{NodeType: "PRO2-XXS",
		Taints: []v1alpha2.Taint{{Key: "k", Effect: "NoSchedule"}}}}
	older := &v1alpha1.ScalewayManagedMachinePool{}
	if err := older.ConvertFrom(stored); err != nil {
		t.Fatal(err)
	}
	if got, want := older.Annotations[conversionData], `{"spec":{"taints":[{"key":"k","effect":"NoSchedule"}]}}`; got != want {
		t.Errorf("kept aside: want %s, got %s", want, got)
	}
	stored.Spec.Taints = nil
	if err := older.ConvertFrom(stored); err != nil || len(older.Annotations) != 0 {
		t.Errorf("v1alpha1 has a field for all of it: want no noise on the object, got %v, %v", older.Annotations, err)
	}
	spoilt := &v1alpha1.ScalewayManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{conversionData: "{"}}}
	if err := spoilt.ConvertTo(stored); err == nil || !strings.Contains(err.Error(), "metadata.annotations["+conversionData+"]") {
		t.Errorf("a spoilt annotation: got %v, want an error that names it", err)
	}
	for _, err := range []error{older.ConvertTo(otherHub{}), older.ConvertFrom(otherHub{})} {
		if err == nil || !strings.Contains(err.Error(), "found crd_test.otherHub") {
			t.Errorf("another kind: got %v, want an error that names it", err)
		}
	}
}

// TestConversionScalewayEmpty holds that empty values of v1alpha1, which v1alpha2 refuses, are stored as absent.
func TestConversionScalewayEmpty(t *testing.T) {
	t.Parallel()
	older, stored := &v1alpha1.ScalewayManagedMachinePool{}, &v1alpha2.ScalewayManagedMachinePool{}
	text := `{"spec":{"nodeType":"PRO2-XXS","zone":"fr-par-1","placementGroupID":"","rootVolumeType":"","rootVolumeSizeGB":0,"securityGroupID":""}}`
	if err := json.Unmarshal([]byte(text), older); err != nil {
		t.Fatal(err)
	}
	if err := older.ConvertTo(stored); err != nil {
		t.Fatal(err)
	}
	if got, _ := json.Marshal(stored.Spec); string(got) != `{"nodeType":"PRO2-XXS","zone":"fr-par-1"}` {
		t.Errorf("want the two values alone, got %s", got)
	}
}

// FuzzScalewayManifests holds that a manifest of either version loses nothing on the way to the other version and back, and that no
// annotation can break an object.
func FuzzScalewayManifests(f *testing.F) {
	for _, text := range []string{
		`spec: {nodeType: PRO2-XXS, zone: fr-par-1, scaling: {autoscaling: true, minSize: 1, maxSize: 3}, autohealing: false, upgradePolicy: {maxSurge: 1}}`,
		`spec: {nodeType: external, zone: fr-par-1, additionalTags: [a], kubeletArgs: {containerLogMaxFiles: "10"}, rootVolumeType: sbs_5k, rootVolumeSizeGB: 20, publicIPDisabled: true, labels: {a: b}}`,
		`spec: {nodeType: a, placementGroupID: 11111111-1111-1111-1111-111111111111, taints: [{key: k, effect: NoExecute}], startupTaints: [{key: k, value: v, effect: NoExecute}], providerID: x}`,
		`{metadata: {annotations: {cluster.x-k8s.io/conversion-data: '{"spec":{"taints":[]}}'}}, spec: {}}`,
		`{status: {conditions: [{type: Ready, status: "True", lastTransitionTime: "2030-01-02T03:04:05Z"}], replicas: 2, ready: true}}`,
	} {
		f.Add([]byte(text))
	}
	fuzzVersions(f, scalewayOlderSurvives, scalewayStoredSurvives)
}

// otherHub is the stored version of another kind.
type otherHub struct {
	*v1alpha2.ScalewayManagedMachinePool
}

func scalewayOlderSurvives(t *testing.T, written *v1alpha1.ScalewayManagedMachinePool) {
	t.Helper()
	withoutEmpty(&written.Spec)
	written = overTheWire(t, written)
	stored, read, again := &v1alpha2.ScalewayManagedMachinePool{}, &v1alpha1.ScalewayManagedMachinePool{},
		&v1alpha2.ScalewayManagedMachinePool{}
	if err := written.ConvertTo(stored); err != nil {
		if !strings.Contains(err.Error(), conversionData) {
			t.Fatalf("want an error that names the field, got %v", err)
		}
		return
	}
	if err := read.ConvertFrom(overTheWire(t, stored)); err != nil {
		t.Fatalf("want what is stored to be readable, got %v", err)
	}
	if err := overTheWire(t, read).ConvertTo(again); err != nil {
		t.Fatalf("want what was read to be written back, got %v", err)
	}
	same(t, "stored, read and stored again", overTheWire(t, stored), overTheWire(t, again))
	bare(&written.ObjectMeta)
	bare(&read.ObjectMeta)
	same(t, "written and read", written, overTheWire(t, read))
}

// withoutEmpty removes the empty values that v1alpha2 has no word for.
func withoutEmpty(s *v1alpha1.ScalewayManagedMachinePoolSpec) {
	for _, text := range []**string{&s.PlacementGroupID, &s.RootVolumeType, &s.SecurityGroupID} {
		if *text != nil && **text == "" {
			*text = nil
		}
	}
	if s.RootVolumeSizeGB != nil && *s.RootVolumeSizeGB == 0 {
		s.RootVolumeSizeGB = nil
	}
}

func scalewayStoredSurvives(t *testing.T, stored *v1alpha2.ScalewayManagedMachinePool) {
	t.Helper()
	stored = overTheWire(t, stored)
	bare(&stored.ObjectMeta)
	before := stored.DeepCopy()
	read, again := &v1alpha1.ScalewayManagedMachinePool{}, &v1alpha2.ScalewayManagedMachinePool{}
	if err := read.ConvertFrom(stored); err != nil {
		t.Fatalf("want every stored object to be readable, got %v", err)
	}
	if diff := cmp.Diff(before, stored); diff != "" {
		t.Fatalf("reading changed what was read (-before +after):\n%s", diff)
	}
	if err := overTheWire(t, read).ConvertTo(again); err != nil {
		t.Fatalf("want what was read to be written back, got %v", err)
	}
	same(t, "stored, read and stored again", stored, overTheWire(t, again))
}
