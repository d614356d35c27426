package install

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	awskinds "github.com/muster-project/muster/local/clouds/aws/kinds"
	azurekinds "github.com/muster-project/muster/local/clouds/azure/kinds"
	"github.com/muster-project/muster/local/foreign"
)

// TestConversion: a kind with several versions is converted by the webhook, or served in its stored version alone where
// there is none; otherwise the API server would change the version of an object without changing its fields.
func TestConversion(t *testing.T) {
	webhook := &Webhook{URL: "https://127.0.0.1:1", CA: []byte("the authority")}
	for _, tc := range []struct {
		reason       string
		webhook      *Webhook
		wantStrategy apiextensionsv1.ConversionStrategyType
		wantServed   int
	}{
		{reason: "with a webhook", webhook: webhook, wantStrategy: apiextensionsv1.WebhookConverter, wantServed: 2},
		{reason: "without one", wantServed: 1},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			seen := map[string]apiextensionsv1.CustomResourceDefinitionSpec{}
			all, err := definitions(others())
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range all {
				if err := convert(d, tc.webhook); err != nil {
					t.Fatal(err)
				}
				typed := apiextensionsv1.CustomResourceDefinition{}
				if err := runtime.DefaultUnstructuredConverter.FromUnstructured(d.Object, &typed); err != nil {
					t.Fatal(err)
				}
				seen[typed.Spec.Names.Kind] = typed.Spec
			}
			for kind, spec := range seen {
				checkConversion(t, kind, spec, tc.wantStrategy, tc.wantServed)
			}
			for _, kind := range []string{"Cluster", "MachinePool", "KubeadmConfig", "AWSMachinePool", "LocalControlPlane", "AWSCluster",
				"AWSManagedCluster", "AWSManagedControlPlane", "AWSClusterStaticIdentity", "AzureCluster", "AzureClusterIdentity"} {
				if _, ok := seen[kind]; !ok {
					t.Errorf("want a definition of %s, got none", kind)
				}
			}
		})
	}
}

// TestClusterctlMoves holds that clusterctl move finds the objects of every kind, and identities, which belong to no Cluster, with what
// they own.
func TestClusterctlMoves(t *testing.T) {
	all, err := definitions(others())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		if _, ok := d.GetLabels()["clusterctl.cluster.x-k8s.io"]; !ok {
			t.Errorf("%s: want the label by which clusterctl finds its objects, got %v", d.GetName(), d.GetLabels())
		}
		_, moved := d.GetLabels()["clusterctl.cluster.x-k8s.io/move-hierarchy"]
		if identity := strings.HasPrefix(d.GetName(), "awscluster") && strings.Contains(d.GetName(), "identities."); moved != identity {
			t.Errorf("%s: want it moved with its hierarchy: %v, got %v", d.GetName(), identity, moved)
		}
	}
}

// others are the kinds of all clouds' providers.
func others() []foreign.Kind { return slices.Concat(awskinds.All(), azurekinds.All()) }

// foreignKind is a kind whose versions all have the same fields.
func foreignKind(kind string) bool {
	return slices.ContainsFunc(others(), func(k foreign.Kind) bool { return k.Kind == kind })
}

func checkConversion(t *testing.T, kind string, spec apiextensionsv1.CustomResourceDefinitionSpec,
	wantStrategy apiextensionsv1.ConversionStrategyType, wantServed int) {
	t.Helper()
	if len(spec.Versions) == 1 || foreignKind(kind) || kind == "AWSMachine" {
		wantStrategy, wantServed = "", len(spec.Versions)
	}
	served := 0
	for _, v := range spec.Versions {
		if v.Served {
			served++
		} else if v.Storage {
			t.Errorf("%s: the stored version %s is not served", kind, v.Name)
		}
	}
	if served != wantServed {
		t.Errorf("%s: want %d versions served, got %d", kind, wantServed, served)
	}
	var got apiextensionsv1.ConversionStrategyType
	if spec.Conversion != nil {
		got = spec.Conversion.Strategy
	}
	if got != wantStrategy {
		t.Errorf("%s: want conversion %q, got %q", kind, wantStrategy, got)
	}
	if got == apiextensionsv1.WebhookConverter {
		c := spec.Conversion.Webhook.ClientConfig
		ca := base64.StdEncoding.EncodeToString([]byte("the authority"))
		if *c.URL != "https://127.0.0.1:1/convert" || base64.StdEncoding.EncodeToString(c.CABundle) != ca {
			t.Errorf("%s: want the webhook's own address and authority, got %s and %q", kind, *c.URL, c.CABundle)
		}
	}
}
