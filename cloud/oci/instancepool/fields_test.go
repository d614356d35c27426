package instancepool_test

import (
	"flag"
	"reflect"
	"testing"

	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/oci/instancepool"
)

var update = flag.Bool("update", false, "write the tables in docs/oci.md")

// TestRows holds that each field of an OCIMachinePool has a row, and that the document shows the rows.
func TestRows(t *testing.T) {
	t.Parallel()
	cloudtest.Fields{
		Rows: instancepool.Rows(), Spec: reflect.TypeFor[spec](),
		Without: []string{"spec.providerID", "spec.ocid", "spec.providerIDList", "spec.strategy",
			"spec.instanceConfiguration.instanceConfigurationId"},
		Page: "../../../docs/oci.md", Mark: "fields of an OCIMachinePool", Kind: "an OCIMachinePool", Cloud: "Muster",
		Effects: map[fields.Effect]string{
			fields.Rolls:   "creates another instance configuration, and replaces instances by `strategy`",
			fields.InPlace: "changes the instance pool in place",
			fields.Fixed:   "refused",
		},
	}.Check(t, *update)
}
