package nodegroup

import (
	"flag"
	"reflect"
	"testing"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/cloud/fields"
)

var update = flag.Bool("update", false, "write the tables in docs/launch-templates.md")

func TestFields(t *testing.T) {
	t.Parallel()
	cloudtest.Fields{
		Rows: groupFields.Rows(), Spec: reflect.TypeFor[awsv1.AWSManagedMachinePoolSpec](),
		Without: []string{"spec.providerID", "spec.providerIDList", "spec.lifecycleHooks"},
		Page:    "../../../docs/launch-templates.md", Mark: "fields of a node group", Kind: "AWSManagedMachinePool", Cloud: "EKS",
		Effects: map[fields.Effect]string{
			fields.Rolls:   "replaces the nodes",
			fields.InPlace: "changes the node group in place",
			fields.Fixed:   "refused at admission; on an adopted node group they are named by `GroupUnchangeable`, and the rest is done",
		},
	}.Check(t, *update)
}
