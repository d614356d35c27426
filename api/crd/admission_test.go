package crd_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/muster-project/muster/api/aws/v1beta2"
)

// admission does to an object what an API server does with the schema of one version: unknown fields are refused (as
// kubectl asks for), defaults filled in, and everything is checked.
type admission struct {
	structural *structuralschema.Structural
	schema     validation.SchemaValidator
	rules      *cel.Validator
}

func admissionOf(t *testing.T, kind, version string) admission {
	t.Helper()
	key := kind + "/" + version
	made, ok := admissions.Load(key)
	if !ok {
		// Two tests may make one at the same time, and then one of the two is thrown away.
		made, _ = admissions.LoadOrStore(key, newAdmission(t, kind, version))
	}
	return made.(admission)
}

// admissions are those that were made, by kind and version: to compile the rules of a kind takes most of a second.
var admissions sync.Map

func newAdmission(t *testing.T, kind, version string) admission {
	t.Helper()
	definition, ok := definitions(t)[kind]
	if !ok {
		t.Fatalf("there is no definition of %s", kind)
	}
	for _, v := range definition.Spec.Versions {
		if v.Name != version {
			continue
		}
		var internal apiextensions.CustomResourceValidation
		if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(v.Schema.DeepCopy(), &internal,
			nil); err != nil {
			t.Fatal(err)
		}
		structural, err := structuralschema.NewStructural(internal.OpenAPIV3Schema)
		if err != nil {
			t.Fatal(err)
		}
		schema, _, err := validation.NewSchemaValidator(internal.OpenAPIV3Schema)
		if err != nil {
			t.Fatal(err)
		}
		return admission{structural, schema, cel.NewValidator(structural, true, celconfig.PerCallLimit)}
	}
	t.Fatalf("there is no version %s of %s", version, kind)
	return admission{}
}

// admit applies defaults to the object and returns its errors; old is nil for a new object.
func (a admission) admit(object, old map[string]any) field.ErrorList {
	unknown := pruning.PruneWithOptions(object, a.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	var errs field.ErrorList
	for _, path := range unknown {
		errs = append(errs, field.Forbidden(field.NewPath(path), "unknown field"))
	}
	defaulting.Default(object, a.structural)
	errs = append(errs, validation.ValidateCustomResource(nil, object, a.schema)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, a.structural, object)...)
	var before any
	if old != nil {
		defaulting.Default(old, a.structural)
		before = old
	}
	found, _ := a.rules.Validate(context.Background(), nil, a.structural, object, before, celconfig.RuntimeCELCostBudget)
	return append(errs, found...)
}

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	var o map[string]any
	// Numbers are int64 as in an API server, so that rules see integers.
	if err := utiljson.Unmarshal(data, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// untyped returns the object of another provider that text describes.
func untyped(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

// poolText returns an AWSMachinePool with the given lines in its specification.
func poolText(version, spec string) string {
	return kindText(v1beta2.AWSMachinePoolKind, version, spec)
}

// kindText returns an object of a kind with the given lines in its specification.
func kindText(kind, version, spec string) string {
	text := "apiVersion: infrastructure.cluster.x-k8s.io/" + version + "\nkind: " + kind + "\nmetadata:\n  name: capa-mp-0\nspec:\n"
	for _, line := range strings.Split(strings.Trim(spec, "\n"), "\n") {
		text += "  " + line + "\n"
	}
	return text
}

const minimal = "awsLaunchTemplate: {instanceType: m5.large}"
