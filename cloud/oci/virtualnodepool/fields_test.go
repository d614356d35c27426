package virtualnodepool

import (
	"flag"
	"reflect"
	"testing"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/cloud/fields"
)

var update = flag.Bool("update", false, "write the tables in docs/oci.md")

// TestFields holds that each field of an OCIVirtualMachinePool has a row, and that the document shows the rows.
func TestFields(t *testing.T) {
	t.Parallel()
	cloudtest.Fields{
		Rows: rows.Rows(), Spec: reflect.TypeFor[ociv1.OCIVirtualMachinePoolSpec](),
		Without: []string{"spec.providerID", "spec.id", "spec.providerIDList"},
		Page:    "../../../docs/oci.md", Mark: "fields of an OCIVirtualMachinePool", Kind: "an OCIVirtualMachinePool", Cloud: "OKE",
		Effects: map[fields.Effect]string{
			fields.Rolls:   "cycles the virtual nodes",
			fields.InPlace: "changes the virtual node pool in place",
			fields.Fixed:   "refused",
		},
	}.Check(t, *update)
}
