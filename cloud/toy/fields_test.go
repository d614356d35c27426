package toy

import (
	"flag"
	"reflect"
	"testing"

	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/cloud/fields"
)

var update = flag.Bool("update", false, "write the tables in docs/adding-a-cloud.md")

func TestFields(t *testing.T) {
	t.Parallel()
	cloudtest.Fields{
		Rows: rows.Rows(), Spec: reflect.TypeFor[Spec](), Page: "../../docs/adding-a-cloud.md", Mark: "fields of a toy pool", Kind: "a pool",
		Cloud: "Toy cloud",
		Effects: map[fields.Effect]string{
			fields.Rolls: "replaces the nodes", fields.InPlace: "changes the pool and its nodes in place",
			fields.Fixed: "never changes it: `GroupUnchangeable` names it",
		},
	}.Check(t, *update)
}
