package group

import (
	"flag"
	"reflect"
	"testing"

	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/cloud/fields"
)

var update = flag.Bool("update", false, "write the table in docs/adding-a-cloud.md")

func TestFields(t *testing.T) {
	t.Parallel()
	cloudtest.Fields{
		Rows: rows.Rows(), Spec: reflect.TypeFor[Spec](), Page: "../../../docs/adding-a-cloud.md", Mark: "fields of a toy group", Kind: "a group",
		Cloud: "Toy cloud",
		Effects: map[fields.Effect]string{
			fields.Rolls: "is another template: Muster replaces the machines", fields.InPlace: "changes the group in place",
			fields.Fixed: "never changes it: `GroupUnchangeable` names it",
		},
	}.Check(t, *update)
}
