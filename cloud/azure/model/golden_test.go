package model_test

import (
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/model"
)

// golden are specifications with the content that stands in tags in the cloud. A new Muster must find the same one, or every machine of
// every pool is replaced by its upgrade: what is here is added to, and never changed.
var golden = []struct {
	name, content, inPlace string
	spec                   func() *azurev1.AzureMachinePoolSpec
	ipv6                   bool
}{
	{name: "seed", content: "v1:7f20d9a3ba5fa734", inPlace: "38e0b9de-4b94d21d", spec: seed},
	{name: "flexible", content: "v1:87b454bd4a9edba3", inPlace: "38e0b9de-4b94d21d", spec: func() *azurev1.AzureMachinePoolSpec {
		s := seed()
		s.OrchestrationMode = azurev1.FlexibleOrchestrationMode
		return s
	}},
	{name: "windows", content: "v1:50a2894df563224e", inPlace: "38e0b9de-4b94d21d", spec: func() *azurev1.AzureMachinePoolSpec {
		s := seed()
		s.Template.OSDisk.OSType, s.Template.SSHPublicKey = azurev1.WindowsOS, ""
		return s
	}},
	{name: "spot", content: "v1:fb1bdaf8d75926db", inPlace: "38e0b9de-4b94d21d", spec: func() *azurev1.AzureMachinePoolSpec {
		s := seed()
		s.Template.SpotVMOptions = &azurev1.SpotVMOptions{MaxPrice: new(resource.MustParse("0.25"))}
		s.Template.OSDisk.DiffDiskSettings = &azurev1.DiffDiskSettings{Option: "Local", Placement: new(azurev1.DiffDiskPlacementNvmeDisk)}
		s.Template.OSDisk.ManagedDisk = nil
		return s
	}},
	{name: "everything", content: "v1:2619f0fee2499aae", inPlace: "1f238230-72624710", spec: func() *azurev1.AzureMachinePoolSpec {
		s := bases()[0]
		s.Template.DisableVMBootstrapExtension = new(false)
		s.Template.NetworkInterfaces = append(s.Template.NetworkInterfaces, azurev1.NetworkInterface{SubnetName: "made-beside-it"})
		s.Template.DataDisks = append(s.Template.DataDisks, azurev1.DataDisk{NameSuffix: "b", DiskSizeGB: 20,
			ManagedDisk: &azurev1.ManagedDiskParameters{StorageAccountType: "UltraSSD_LRS"}})
		return s
	}, ipv6: true},
}

// update writes the bodies anew. Hashes are not written by any test.
var update = flag.Bool("update", false, "write the golden files")

func TestGolden(t *testing.T) {
	for _, g := range golden {
		in := input(t, g.spec())
		in.FailureDomains = []string{"2", "1", "2"}
		if g.ipv6 {
			in.Source.Cluster.Subnets[1].IPv6 = true
		}
		m := build(t, in)
		if m.Content != g.content || m.InPlace != g.inPlace {
			t.Errorf("%s: want content %s and %s in place as it is in the cloud, got %s and %s", g.name, g.content, g.inPlace, m.Content, m.InPlace)
		}
		got, err := json.MarshalIndent(m.Create(2), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, '\n')
		file := filepath.Join("testdata", g.name+".json")
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(file); err != nil || string(want) != string(got) {
			t.Errorf("%s: want (%v)\n%s\ngot\n%s", file, err, want, got)
		}
	}
}

// Secrets that go to Azure are in no other place than the one for them.
func TestSecretsStayWhereTheyBelong(t *testing.T) {
	in := input(t, bases()[0])
	in.Bootstrap = cloud.NewBootstrap([]byte("token-abcdef.0123456789abcdef"), "cloud-config")
	m := build(t, in)
	tags, err := json.Marshal(m.Set.Tags)
	if err != nil {
		t.Fatal(err)
	}
	state := fmt.Sprintf("%+v", m.Against(model.Current{}).State)
	for what, text := range map[string]string{"tags": string(tags), "hashes": m.Content + m.InPlace + m.Data, "what differs": state} {
		for _, secret := range []string{"hunter2", "abcdef.0123456789abcdef"} {
			if strings.Contains(text, secret) || strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(secret))) {
				t.Errorf("%s: want no secret, got %s", what, text)
			}
		}
	}
}
