package compat

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/local/seed"
)

// TestPublishedScaleSetApplies holds that the published manifest of an AzureMachinePool is accepted unchanged with its meaning, with the
// configuration of the cloud provider in it or in a secret.
func TestPublishedScaleSetApplies(t *testing.T) {
	for _, tc := range []struct {
		reason string
		change func(o seed.Object)
		// file is the stored content of the configuration file.
		file map[string]any
	}{
		{reason: "the cloud provider's configuration is in the manifest"},
		{reason: "it is in the secret that is kept for every pool", change: func(o seed.Object) {
			if o.GetKind() == "KubeadmConfig" {
				o.Object["spec"].(map[string]any)["files"] = []any{map[string]any{"path": "/etc/kubernetes/azure.json", "owner": "root:root",
					"permissions": "0644",
					"contentFrom": map[string]any{"secret": map[string]any{"name": "capz-mp-0-azure-json", "key": "worker-node-azure.json"}}}}
			}
		}, file: map[string]any{"path": "/etc/kubernetes/azure.json", "owner": "root:root", "permissions": "0644",
			"contentFrom": map[string]any{"secret": map[string]any{"name": "capz-mp-0-azure-json", "key": "worker-node-azure.json"}}}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			c := admin(t)
			ns := namespace(t, c)
			objects := published(t, "seed-001.yaml", ns)
			for _, o := range objects {
				if tc.change != nil {
					tc.change(o)
				}
			}
			record, err := seed.OpenRecord(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if err := (&seed.Applier{Client: c, Record: record}).Apply(t.Context(), objects); err != nil {
				t.Fatal(err)
			}
			pool := named(t, c, ns, "capz-mp-0", "cluster.x-k8s.io/v1beta2", "MachinePool")
			ref, _, _ := unstructured.NestedMap(pool.Object, "spec", "template", "spec", "infrastructureRef")
			if diff := cmp.Diff(map[string]any{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "AzureMachinePool", "name": "capz-mp-0"},
				ref); diff != "" {
				t.Errorf("infrastructureRef (-want +got):\n%s", diff)
			}
			infra := named(t, c, ns, "capz-mp-0", "infrastructure.cluster.x-k8s.io/v1beta1", "AzureMachinePool")
			want := map[string]any{"location": "westus2", "orchestrationMode": "Uniform", "identity": "None",
				"strategy": map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"deletePolicy": "Oldest", "maxSurge": "25%",
					"maxUnavailable": int64(1)}},
				"template": map[string]any{"vmSize": "Standard_D2s_v3", "sshPublicKey": account["YOUR_SSH_PUB_KEY"],
					"diagnostics": map[string]any{"boot": map[string]any{"storageAccountType": "Managed"}},
					"osDisk": map[string]any{"osType": "Linux", "diskSizeGB": int64(30),
						"managedDisk": map[string]any{"storageAccountType": "Premium_LRS"}}}}
			if diff := cmp.Diff(want, infra.Object["spec"]); diff != "" {
				t.Errorf("what the pool is, with what is filled in (-want +got):\n%s", diff)
			}
			config := named(t, c, ns, "capz-mp-0", "bootstrap.cluster.x-k8s.io/v1beta2", "KubeadmConfig")
			files, _, _ := unstructured.NestedSlice(config.Object, "spec", "files")
			if len(files) != 1 {
				t.Fatalf("want one file, got %v", files)
			}
			if tc.file != nil {
				if diff := cmp.Diff(tc.file, files[0]); diff != "" {
					t.Errorf("file (-want +got):\n%s", diff)
				}
			} else if got := inline(t, files[0]); got["vmType"] != "vmss" || got["aadClientSecret"] != "secret" || len(got) != 17 {
				t.Errorf("want the configuration word for word, got %v", got)
			}
			if name, _, _ := unstructured.NestedString(config.Object, "spec", "joinConfiguration", "nodeRegistration",
				"name"); name != `{{ ds.meta_data["local_hostname"] }}` {
				t.Errorf("want the node's name left to the machine, got %q", name)
			}
			applyAgain(t, c, objects)
		})
	}
}

// inline returns the configuration that a file holds.
func inline(t *testing.T, file any) map[string]any {
	t.Helper()
	text, _, _ := unstructured.NestedString(file.(map[string]any), "content")
	var got map[string]any
	if err := yaml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// TestFlexibleNeedsAVersion holds that mode Flexible is refused where the MachinePool's Kubernetes version is too old for it, in
// the ecosystem's words, and taken in any order of the two objects otherwise.
func TestFlexibleNeedsAVersion(t *testing.T) {
	c := admin(t)
	machinePool := func(ns, version string) *unstructured.Unstructured {
		u := object(t, ns, "{apiVersion: cluster.x-k8s.io/v1beta2, kind: MachinePool, metadata: {name: p}, spec: "+poolSpec("replicas: 1",
			"clusterName: capa, version: "+version)+"}")
		if version == "" {
			unstructured.RemoveNestedField(u.Object, "spec", "template", "spec", "version")
		}
		if err := unstructured.SetNestedField(u.Object, "AzureMachinePool", "spec", "template", "spec", "infrastructureRef", "kind"); err != nil {
			t.Fatal(err)
		}
		return u
	}
	const none = "no MachinePool"
	for _, tc := range []struct{ reason, version, mode, words string }{
		{reason: "the seed's version is too old", version: "v1.22.0", mode: "Flexible",
			words: "specified Kubernetes version 1.22.0 must be >= 1.26.0 for Flexible orchestration mode"},
		{reason: "the last that is too old", version: "v1.25.16", mode: "Flexible", words: "must be >= 1.26.0 for Flexible orchestration mode"},
		{reason: "a version is needed", version: "", mode: "Flexible", words: "could not find Kubernetes version in MachinePool"},
		{reason: "the first that will do", version: "v1.26.0", mode: "Flexible"},
		{reason: "Uniform works with any", version: "v1.22.0", mode: "Uniform"},
		{reason: "manifests are applied in any order", version: none, mode: "Flexible"},
	} {
		ns := namespace(t, c)
		if tc.version != none {
			if err := c.Create(t.Context(), machinePool(ns, tc.version)); err != nil {
				t.Fatal(err)
			}
		}
		// The webhook reads MachinePools from a cache, which hears of the new one a moment later.
		err := eventually(t, tc.words != "", func() error {
			return c.Create(t.Context(), scaleSet(t, ns, "p", "{orchestrationMode: "+tc.mode+"}"), client.DryRunAll)
		})
		switch {
		case tc.words == "" && err != nil:
			t.Errorf("%s: want it taken, got %v", tc.reason, err)
		case tc.words != "" && (err == nil || !strings.Contains(err.Error(), "spec.orchestrationMode") ||
			!strings.Contains(err.Error(), tc.words)):
			t.Errorf("%s: want it refused at spec.orchestrationMode with %q, got %v", tc.reason, tc.words, err)
		}
	}
}

// eventually calls do, repeatedly for at most ten seconds until it fails if fails is true, and returns its last error.
func eventually(t *testing.T, fails bool, do func() error) error {
	t.Helper()
	var err error
	// err is the result in either case.
	_ = wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
		err = do()
		return !fails || err != nil, nil
	})
	return err
}

// TestScaleSetMachines holds the allowed fields of an object for a single virtual machine.
func TestScaleSetMachines(t *testing.T) {
	c := client.WithFieldValidation(admin(t), "Strict")
	ns := namespace(t, c)
	machine := func(spec string) *unstructured.Unstructured {
		return object(t, ns, "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: AzureMachinePoolMachine, metadata: {name: m}, spec: "+
			spec+"}")
	}
	if err := c.Create(t.Context(), machine("{instanceID: '0'}")); err == nil ||
		!strings.Contains(err.Error(), "spec.providerID: Required value") {
		t.Errorf("want one without a provider ID refused, got %v", err)
	}
	u := machine("{providerID: 'azure:///subscriptions/s/x/virtualMachines/0', instanceID: '0'}")
	if err := c.Create(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	if err := unstructured.SetNestedField(u.Object, "azure:///subscriptions/s/x/virtualMachines/1", "spec", "providerID"); err != nil {
		t.Fatal(err)
	}
	if err := c.Update(t.Context(), u); err == nil || !strings.Contains(err.Error(), "spec.providerID") ||
		!strings.Contains(err.Error(), "providerID is immutable") {
		t.Errorf("want another provider ID refused, got %v", err)
	}
}
