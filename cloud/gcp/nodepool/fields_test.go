package nodepool_test

import (
	"flag"
	"reflect"
	"testing"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/gcp/nodepool/request"
)

var update = flag.Bool("update", false, "write the tables in docs/gcp.md")

func TestFields(t *testing.T) {
	t.Parallel()
	cloudtest.Fields{
		Rows: request.Parts.Rows(), Spec: reflect.TypeFor[gcpv1.GCPManagedMachinePoolSpec](),
		Without: []string{"spec.providerID", "spec.providerIDList"},
		Page:    "../../../docs/gcp.md", Mark: "fields of a node pool", Kind: "GCPManagedMachinePool", Cloud: "GKE",
		Effects: map[fields.Effect]string{
			fields.Rolls:   "replaces the nodes",
			fields.InPlace: "changes the node pool and its nodes in place, one request after another",
			fields.Fixed:   "refused at admission; on an adopted node pool they are named by `GroupUnchangeable`, and the rest is done",
		},
	}.Check(t, *update)
}
