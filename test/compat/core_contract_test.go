package compat

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/api/crd"
	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	scalewayv1 "github.com/muster-project/muster/api/scaleway/v1alpha2"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/machines"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/aws/awsmachinepool"
	"github.com/muster-project/muster/providers/azure/azuremachinepool"
	"github.com/muster-project/muster/providers/gcp/gcpmachinepool"
	"github.com/muster-project/muster/providers/oci/ocimachinepool"
)

// provisioned returns objects of every infrastructure kind in the state in which Muster's controllers leave them once their cloud resources
// exist.
func provisioned(t *testing.T) map[string]client.Object {
	t.Helper()
	all := map[string]client.Object{}
	for kind, o := range map[string]infrapool.Object{
		awsv1.AWSMachinePoolKind: &awsv1.AWSMachinePool{}, awsv1.AWSManagedMachinePoolKind: &awsv1.AWSManagedMachinePool{},
		azurev1.AzureMachinePoolKind:         &azurev1.AzureMachinePool{},
		aksv1.AzureManagedMachinePoolKind:    &aksv1.AzureManagedMachinePool{},
		aksv1.AzureASOManagedMachinePoolKind: &aksv1.AzureASOManagedMachinePool{},
		gcpv1.GCPMachinePoolKind:             &gcpv1.GCPMachinePool{}, gcpv1.GCPManagedMachinePoolKind: &gcpv1.GCPManagedMachinePool{},
		ociv1.OCIMachinePoolKind: &ociv1.OCIMachinePool{}, ociv1.OCIManagedMachinePoolKind: &ociv1.OCIManagedMachinePool{},
		ociv1.OCIVirtualMachinePoolKind:           &ociv1.OCIVirtualMachinePool{},
		scalewayv1.ScalewayManagedMachinePoolKind: &scalewayv1.ScalewayManagedMachinePool{},
	} {
		o.GetCommonStatus().SetProvisioned()
		all[kind] = o
	}
	seen := machines.Seen{Instance: pool.Instance{ID: "i-1", ProviderID: "aws:///a/i-1", Zone: "a", State: pool.Running,
		Node: &pool.Node{Name: "n", Ready: true}}, Now: time.Unix(1, 0)}
	for _, k := range []machines.Kind{*awsmachinepool.Adapter{}.Kind().Machines, *azuremachinepool.Adapter{}.Kind().Machines,
		*gcpmachinepool.Adapter{}.Kind().Machines, *ocimachinepool.Adapter{}.Kind().Machines} {
		o := k.New()
		k.FillSpec(o, seen)
		k.FillStatus(o, seen)
		all[k.Name] = o
	}
	return all
}

// infrastructureKinds returns Muster's kinds with a status, and the served versions.
func infrastructureKinds(t *testing.T) map[string][]string {
	t.Helper()
	files, err := crd.Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string][]string{}
	for _, f := range files {
		b, err := crd.Files.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		u := unstructured.Unstructured{}
		if err := yaml.Unmarshal(b, &u.Object); err != nil {
			t.Fatal(err)
		}
		group, _, _ := unstructured.NestedString(u.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(u.Object, "spec", "names", "kind")
		versions, _, _ := unstructured.NestedSlice(u.Object, "spec", "versions")
		for _, v := range versions {
			v := v.(map[string]any)
			if _, status, _ := unstructured.NestedMap(v, "subresources", "status"); status && group == awsv1.GroupVersion.Group &&
				v["served"] == true {
				kinds[kind] = append(kinds[kind], v["name"].(string))
			}
		}
	}
	return kinds
}

// TestEveryKindSpeaksBothContracts holds that each infrastructure kind of Muster reports that it is provisioned in the words of both
// contracts, in every version that it is read in: cores of before v1beta2 look at status.ready, later ones at
// status.initialization.provisioned.
func TestEveryKindSpeaksBothContracts(t *testing.T) {
	c := admin(t)
	ns := namespace(t, c)
	objects := provisioned(t)
	for kind, versions := range infrastructureKinds(t) {
		o, ok := objects[kind]
		if !ok {
			t.Errorf("%s: no object to hold it with", kind)
			continue
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		if err != nil {
			t.Fatal(err)
		}
		u := &unstructured.Unstructured{Object: map[string]any{"spec": content["spec"]}}
		switch kind {
		case azurev1.AzureMachinePoolKind:
			u = scaleSet(t, ns, "p", "{}")
		case awsv1.AWSMachinePoolKind:
			u = object(t, ns, "{spec: {awsLaunchTemplate: {instanceType: t3.large}}}")
		case awsv1.AWSManagedMachinePoolKind:
			u = object(t, ns, "{spec: {}}")
		case gcpv1.GCPMachinePoolKind:
			u = object(t, ns, "{spec: {instanceType: n2-standard-2}}")
		case gcpv1.GCPManagedMachinePoolKind:
			u = object(t, ns, "{spec: {}}")
		case ociv1.OCIMachinePoolKind:
			u = object(t, ns, "{spec: {instanceConfiguration: {shape: VM.Standard.E4.Flex, instanceSourceViaImageConfig: {imageId: i}}}}")
		case ociv1.OCIManagedMachinePoolKind:
			u = object(t, ns, "{spec: {nodeShape: VM.Standard.E4.Flex}}")
		case scalewayv1.ScalewayManagedMachinePoolKind:
			u = object(t, ns, "{spec: {nodeType: PRO2-XXS, zone: fr-par-1}}")
		case aksv1.AzureManagedMachinePoolKind:
			u = object(t, ns, "{spec: {mode: System, name: pool0, sku: Standard_B2s}}")
		case aksv1.AzureASOManagedMachinePoolKind:
			u = object(t, ns, "{spec: {resources: [{apiVersion: containerservice.azure.com/v1api20240901, kind: ManagedClustersAgentPool, "+
				"metadata: {name: p}, "+
				"spec: {azureName: pool0, mode: System, owner: {name: c}}}]}}")
		}
		u.SetGroupVersionKind(schema.GroupVersionKind{Group: awsv1.GroupVersion.Group, Version: versions[len(versions)-1], Kind: kind})
		u.SetNamespace(ns)
		u.SetName("p")
		if err := c.Create(t.Context(), u); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		u.Object["status"] = content["status"]
		if err := c.Status().Update(t.Context(), u); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		for _, version := range versions {
			is := named(t, c, ns, "p", awsv1.GroupVersion.Group+"/"+version, kind)
			ready, _, _ := unstructured.NestedBool(is.Object, "status", "ready")
			done, _, _ := unstructured.NestedBool(is.Object, "status", "initialization", "provisioned")
			if !ready || !done {
				t.Errorf("%s %s: want status.ready and status.initialization.provisioned, got %t and %t", kind, version, ready, done)
			}
			if kind != "AWSMachine" && kind != "AzureMachinePoolMachine" && kind != "GCPMachine" {
				continue
			}
			if id, _, _ := unstructured.NestedString(is.Object, "spec", "providerID"); id == "" {
				t.Errorf("%s %s: want spec.providerID", kind, version)
			}
		}
	}
}
