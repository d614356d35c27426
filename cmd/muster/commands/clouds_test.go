package commands

import (
	"strings"
	"testing"

	"github.com/muster-project/muster/local/clouds/all"
)

// TestCloudsAreWhole holds that every cloud defines all fields that commands and worlds use.
func TestCloudsAreWhole(t *testing.T) {
	t.Parallel()
	for _, c := range all.Clouds() {
		missing := c.Title == "" || c.Simulate == nil || c.Reconcilers == nil || c.Clients.Settings == nil || c.Clients.Account == nil ||
			len(c.Clients.Prefixes) == 0 || len(c.Kinds) == 0 || len(c.Resources) == 0 || c.Help.Variable == "" || c.Help.Hosts == "" ||
			c.Help.Plan == ""
		if missing || c.Seed.Name != c.Name || len(c.Seed.Pools) == 0 || len(c.Seed.Clusters) == 0 {
			t.Errorf("%s: want every field filled in, got %+v", c.Name, c)
		}
		if _, ok := c.Seed.Variables[c.Help.Variable]; !ok {
			t.Errorf("%s: want an example that is one of its variables, got %s", c.Name, c.Help.Variable)
		}
	}
}

// The help names what the clouds bring.
func TestHelpNamesWhatCloudsBring(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		upCommand().Long: "capa-mp-0 is an AWSMachinePool, eks-mmp-0 a node group\nof EKS, capz-mp-0 a scale set of Azure in Uniform " +
			"mode, capz-flex-0 one in Flexible mode, aks-pool0 a System pool of AKS,\naks-pool1 a User pool of the same cluster, aks-aso-pool0 a " +
			"pool of AKS as a manifest of Azure Service Operator, capg-mp-0 a\nmanaged instance group of Google Cloud in one zone, capg-mp-1 one " +
			"in all zones of its region, capg-gke-mp-0 a node pool of\nGKE, caps-mp-0 a pool of Kapsule, capoci-mp-0 an instance " +
			"pool of Oracle Cloud, capoci-oke-mp-0 a node pool of OKE,\ncapoci-oke-mp-1 a virtual node pool of OKE.\n\nIn the manifests",
		upCommand().Example:  "  muster up --clouds aws,azure,gcp,scaleway,oci\n  muster up --pools capa-mp-0\n",
		simCommand().Example: "  muster sim --clouds aws --port 4566 --dir ~/my-cloud\n  muster sim --clouds oci --tls",
		planCommand().Example: "-o json\n  muster plan azuremachinepool/workers --set spec.template.vmSize=Standard_D4s_v3\n  muster plan " +
			"gcpmachinepool/workers --set spec.instanceType=n2-standard-4\n  muster plan " +
			"scalewaymanagedmachinepool/workers --set spec.upgradePolicy.maxSurge=2\n  muster plan " +
			"ocimanagedmachinepool/workers --set spec.nodeShape=VM.Standard.E5.Flex\n  muster plan awsmachinepool/workers --set 'metadata",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
}
