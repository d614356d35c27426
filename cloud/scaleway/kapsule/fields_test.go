package kapsule

import (
	"flag"
	"reflect"
	"testing"

	scalewayv1 "github.com/muster-project/muster/api/scaleway/v1alpha2"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/cloud/fields"
)

var update = flag.Bool("update", false, "write the tables in docs/scaleway.md")

func TestFields(t *testing.T) {
	t.Parallel()
	cloudtest.Fields{
		Rows: rows.Rows(), Spec: reflect.TypeFor[scalewayv1.ScalewayManagedMachinePoolSpec](),
		Without: []string{"spec.providerID", "spec.providerIDList"},
		Page:    "../../../docs/scaleway.md", Mark: "fields of a ScalewayManagedMachinePool", Kind: "a ScalewayManagedMachinePool",
		Cloud: "Kapsule",
		Effects: map[fields.Effect]string{
			fields.Rolls: "replaces the nodes, after the control plane", fields.InPlace: "changes the pool and its nodes in place",
			fields.Fixed: "never changes it: `GroupUnchangeable` names it, and the API server refuses the change",
		},
	}.Check(t, *update)
}
