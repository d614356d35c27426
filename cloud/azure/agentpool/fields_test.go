package agentpool_test

import (
	"flag"
	"reflect"
	"testing"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/cloud/azure/agentpool/body"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/cloud/fields"
)

var update = flag.Bool("update", false, "write the tables in docs/aks.md")

func TestFields(t *testing.T) {
	t.Parallel()
	cloudtest.Fields{
		Rows: body.Fields.Rows(), Spec: reflect.TypeFor[aksv1.AzureManagedMachinePoolSpec](),
		Without: []string{"spec.providerID", "spec.providerIDList", "spec.asoManagedClustersAgentPoolPatches"},
		Page:    "../../../docs/aks.md", Mark: "fields of an agent pool", Kind: "AzureManagedMachinePool", Cloud: "AKS",
		Effects: map[fields.Effect]string{
			fields.Rolls:   "replaces the nodes: each gets another name",
			fields.InPlace: "changes them in place",
			fields.Fixed: "changes none of them: refused at admission. In a manifest or a patch they are named by `GroupUnchangeable`, and the rest " +
				"is done",
		},
	}.Check(t, *update)
	if recorded := body.Fields.Of(body.Tags).Owned.Recorded; recorded != model.TagNames {
		t.Errorf("want the tags recorded in %s, got %s", model.TagNames, recorded)
	}
}
