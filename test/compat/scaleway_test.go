package compat

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// kapsulePool returns a pool of Kapsule in a version of the API, with the fields that each must have and more.
func kapsulePool(t *testing.T, namespace, version, more string) *unstructured.Unstructured {
	t.Helper()
	return object(t, namespace, "{apiVersion: infrastructure.cluster.x-k8s.io/"+version+", kind: ScalewayManagedMachinePool, metadata: "+
		"{generateName: p-}, spec: {"+strings.TrimPrefix(more+", ", ", ")+"nodeType: PRO2-XXS, zone: fr-par-1}}")
}

const (
	scalewayID      = "11111111-1111-1111-1111-111111111111"
	otherScalewayID = "22222222-2222-2222-2222-222222222222"
	// kapsuleFields are all fields of both versions.
	kapsuleFields = "placementGroupID: " + scalewayID + ", securityGroupID: " + scalewayID + ", scaling: {autoscaling: true, minSize: 1, " +
		"maxSize: 5}, autohealing: true, additionalTags: ['team=a'], kubeletArgs: {maxPods: '50'}, upgradePolicy: {maxUnavailable: 1, " +
		"maxSurge: 2}, rootVolumeType: sbs_5k, rootVolumeSizeGB: 50, publicIPDisabled: true, labels: {team: a}, " +
		"providerIDList: ['scaleway://instance/fr-par-1/" + scalewayID + "']"
)

// kapsuleSpecs are specifications of each version which between them use every field that there is.
var kapsuleSpecs = map[string][]string{
	"v1alpha1": {"", kapsuleFields},
	"v1alpha2": {"", kapsuleFields, "taints: [{key: dedicated, value: a, effect: NoSchedule}], startupTaints: [{key: agent, value: 'true', " +
		"effect: NoExecute}], providerID: 'scaleway:///projects/p/regions/fr-par/clusters/c/pools/p'"},
}

// kapsuleSchema returns the schema of the specification in a version.
func kapsuleSchema(t *testing.T, version string) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "api", "crd", "infrastructure.cluster.x-k8s.io_scalewaymanagedmachinepools.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &crd); err != nil {
		t.Fatal(err)
	}
	for _, v := range crd.Spec.Versions {
		if v.Name == version {
			return v.Schema.OpenAPIV3Schema.Properties["spec"]
		}
	}
	t.Fatalf("want version %s", version)
	return apiextensionsv1.JSONSchemaProps{}
}

// TestEveryFieldOfKapsulePools holds that a pool may use each field that the schema of either version has, that it reads back as it was
// written, and that the other version keeps what both have.
func TestEveryFieldOfKapsulePools(t *testing.T) {
	c := client.WithFieldValidation(admin(t), "Strict")
	ns := namespace(t, c)
	other := map[string]string{"v1alpha1": "v1alpha2", "v1alpha2": "v1alpha1"}
	for version, list := range kapsuleSpecs {
		used := map[string]bool{}
		for _, spec := range list {
			u := kapsulePool(t, ns, version, spec)
			wrote := u.DeepCopy()
			if err := c.Create(t.Context(), u); err != nil {
				t.Errorf("%s {%s}: want it taken, got %v", version, spec, err)
				continue
			}
			if lost := without(wrote.Object["spec"], u.Object["spec"], "spec"); lost != "" {
				t.Errorf("%s: %s reads back as something else: %v", version, lost, u.Object["spec"])
			}
			note(used, wrote.Object["spec"], "spec")
			seen := &unstructured.Unstructured{}
			seen.SetAPIVersion("infrastructure.cluster.x-k8s.io/" + other[version])
			seen.SetKind("ScalewayManagedMachinePool")
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(u), seen); err != nil {
				t.Errorf("%s {%s}: want it readable as %s, got %v", version, spec, other[version], err)
				continue
			}
			if lost := without(wrote.Object["spec"], seen.Object["spec"], "spec"); spec != kapsuleSpecs["v1alpha2"][2] && lost != "" {
				t.Errorf("%s: %s is another in %s: %v", version, lost, other[version], seen.Object["spec"])
			}
		}
		for _, path := range leaves(kapsuleSchema(t, version), "spec") {
			if !used[path] {
				t.Errorf("%s: no specification uses %s", version, path)
			}
		}
	}
}

// TestRefusalsOfKapsulePools holds on a real API server what the existing provider documents as refused, and what Kapsule can't change.
func TestRefusalsOfKapsulePools(t *testing.T) {
	c := client.WithFieldValidation(admin(t), "Strict")
	ns := namespace(t, c)
	for why, tc := range map[string]struct {
		old, spec string
		want      []string
	}{
		"another placement group": {old: "placementGroupID: " + scalewayID, spec: "placementGroupID: " + otherScalewayID,
			want: []string{"spec.placementGroupID", "Value is immutable"}},
		"a placement group at last": {spec: "placementGroupID: " + scalewayID, old: "autohealing: true",
			want: []string{"spec.placementGroupID", "cannot be added or removed"}},
		"another volume":  {old: "rootVolumeType: sbs_5k", spec: "rootVolumeType: l_ssd", want: []string{"spec.rootVolumeType", "immutable"}},
		"a larger volume": {old: "rootVolumeSizeGB: 20", spec: "rootVolumeSizeGB: 30", want: []string{"spec.rootVolumeSizeGB", "immutable"}},
		"no public address": {old: "publicIPDisabled: false", spec: "publicIPDisabled: true",
			want: []string{"spec.publicIPDisabled", "immutable"}},
		"a small volume":     {spec: "rootVolumeSizeGB: 19", want: []string{"spec.rootVolumeSizeGB", "20"}},
		"an empty scaling":   {spec: "scaling: {}", want: []string{"spec.scaling", "at least 1 propert"}},
		"an empty policy":    {spec: "upgradePolicy: {}", want: []string{"spec.upgradePolicy", "at least 1 propert"}},
		"no node replaced":   {spec: "upgradePolicy: {maxSurge: 0, maxUnavailable: 0}", want: []string{"spec.upgradePolicy.maxUnavailable"}},
		"bounds reversed":    {spec: "scaling: {minSize: 3, maxSize: 2}", want: []string{"spec.scaling.maxSize", "at least minSize"}},
		"a tag of an owner":  {spec: "additionalTags: ['muster.dev_owner=x']", want: []string{"spec.additionalTags", "name the owner"}},
		"a tag of the other": {spec: "additionalTags: ['caps-namespace=x']", want: []string{"spec.additionalTags", "name the owner"}},
		"an unknown field":   {spec: "replicas: 3", want: []string{"spec.replicas", "unknown field"}},
	} {
		u := kapsulePool(t, ns, "v1alpha2", tc.spec)
		var err error
		if tc.old == "" {
			err = c.Create(t.Context(), u, client.DryRunAll)
		} else {
			was := kapsulePool(t, ns, "v1alpha2", tc.old)
			if err := c.Create(t.Context(), was); err != nil {
				t.Errorf("%s: %v", why, err)
				continue
			}
			was.Object["spec"] = u.Object["spec"]
			err = c.Update(t.Context(), was)
		}
		for _, part := range tc.want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: want it refused with %q, got %v", why, part, err)
			}
		}
	}
	changed := kapsulePool(t, ns, "v1alpha2", "securityGroupID: "+scalewayID)
	if err := c.Create(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	changed.Object["spec"].(map[string]any)["securityGroupID"] = otherScalewayID
	if err := c.Update(t.Context(), changed); err != nil {
		t.Errorf("want another security group taken, got %v", err)
	}
}

// TestKapsulePoolsByWebhook holds the checks that only webhooks can do: warnings about fields without effect or with harmful ones, for
// either version.
func TestKapsulePoolsByWebhook(t *testing.T) {
	c, warned := listening(t)
	ns := namespace(t, c)
	for _, tc := range []struct{ version, spec, want string }{
		{"v1alpha2", "", ""},
		{"v1alpha2", "scaling: {minSize: 1}", "Warning: spec.scaling.minSize: has no effect without spec.scaling.autoscaling\n"},
		{"v1alpha1", "scaling: {maxSize: 1}", "Warning: spec.scaling.maxSize: has no effect without spec.scaling.autoscaling\n"},
		{"v1alpha2", "upgradePolicy: {maxUnavailable: 1}",
			"Warning: spec.upgradePolicy: with maxSurge 0 Kapsule deletes a node before its replacement runs\n"},
	} {
		warned.Reset()
		if err := c.Create(t.Context(), kapsulePool(t, ns, tc.version, tc.spec)); err != nil || !strings.HasSuffix(warned.String(), tc.want) ||
			tc.version == "v1alpha2" && warned.String() != tc.want {
			t.Errorf("%s {%s}: want %q, got %q, %v", tc.version, tc.spec, tc.want, warned, err)
		}
	}
}
