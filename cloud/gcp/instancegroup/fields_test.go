package instancegroup_test

import (
	"flag"
	"reflect"
	"testing"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/gcp/instancegroup"
)

var update = flag.Bool("update", false, "write the tables in docs/gcp.md")

func TestRows(t *testing.T) {
	t.Parallel()
	cloudtest.Fields{
		Rows: instancegroup.Rows(), Spec: reflect.TypeFor[gcpv1.GCPMachinePoolSpec](),
		Without: []string{"spec.providerID", "spec.providerIDList", "spec.strategy"},
		Page:    "../../../docs/gcp.md", Mark: "fields of a group", Kind: "GCPMachinePool", Cloud: "Muster",
		Effects: map[fields.Effect]string{
			fields.Rolls:   "makes another instance template, and replaces instances by `strategy`",
			fields.InPlace: "changes the group in place",
			fields.Fixed:   "refused at admission",
		},
	}.Check(t, *update)
}
