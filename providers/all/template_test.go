package all_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/revision"
	"github.com/muster-project/muster/providers/aws/awsmachinepool"
	"github.com/muster-project/muster/providers/aws/awsmanaged"
	"github.com/muster-project/muster/providers/azure/azuremachinepool"
	"github.com/muster-project/muster/providers/azure/azuremanaged"
	"github.com/muster-project/muster/providers/gcp/gcpmachinepool"
	"github.com/muster-project/muster/providers/gcp/gcpmanaged"
	"github.com/muster-project/muster/providers/oci/ocimachinepool"
	"github.com/muster-project/muster/providers/oci/ocimanaged"
	"github.com/muster-project/muster/providers/oci/ocivirtual"
	"github.com/muster-project/muster/providers/scaleway/scalewaymanaged"
)

// TestTemplateFields holds that pools of every kind can return to a former template, and that its fields are fields of the specification.
func TestTemplateFields(t *testing.T) {
	t.Parallel()
	wantFields(t, awsmachinepool.Adapter{}.Kind())
	wantFields(t, awsmanaged.Adapter{}.Kind())
	wantFields(t, azuremachinepool.Adapter{}.Kind())
	wantFields(t, azuremanaged.Managed{}.Kind())
	wantFields(t, azuremanaged.ASO{}.Kind())
	wantFields(t, gcpmachinepool.Adapter{}.Kind())
	wantFields(t, gcpmanaged.Adapter{}.Kind())
	wantFields(t, ocimachinepool.Adapter{}.Kind())
	wantFields(t, ocimanaged.Adapter{}.Kind())
	wantFields(t, ocivirtual.Adapter{}.Kind())
	wantFields(t, scalewaymanaged.Adapter{}.Kind())
}

// wantFields fails the test unless the template fields of a kind are fields of its specification.
func wantFields[O infrapool.Object, S any](t *testing.T, k infrapool.Kind[O, S]) {
	t.Helper()
	known := map[string]bool{}
	spec := reflect.TypeOf(k.New()).Elem()
	field, _ := spec.FieldByName("Spec")
	addFields(known, field.Type)
	if len(k.TemplateFields) == 0 {
		t.Errorf("%s: want fields that make the template", k.Name)
	}
	former, err := revision.Of(k.New(), revision.Fields{Names: k.TemplateFields, Except: k.TemplateExcept}, nil)
	if err != nil {
		t.Errorf("%s: %v", k.Name, err)
	}
	if err := former.Onto(k.New(), k.New(), former.Fields()); err != nil {
		t.Errorf("%s: %v", k.Name, err)
	}
	for _, name := range k.TemplateFields {
		if !known[name] {
			t.Errorf("%s: spec.%s does not exist", k.Name, name)
		}
	}
}

// addFields adds the names of the fields of a type and of those that it embeds.
func addFields(known map[string]bool, of reflect.Type) {
	for i := range of.NumField() {
		f := of.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && f.Anonymous {
			addFields(known, f.Type)
		}
		known[name] = true
	}
}
