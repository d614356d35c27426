package awssdk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/sim/core/shapes"
)

// module are the sources of a service with one operation.
var module = map[string]string{
	"api_op_Get.go": `package x
type GetInput struct { Name *string; Filters []types.Filter }
type GetOutput struct { Thing *types.Thing; Other *types.Other }`,
	"types/types.go": `package types
type Filter struct { Key *string; Values []string }
type Thing struct { Size *int32; Colour *string }
type Other struct { Size *int32 }`,
	"types/enums.go": "package types",
	"serializers.go": `package x
func awsAwsquery_serializeOpDocumentGetInput(v *GetInput) {
	if v.Name != nil { key := object.Key("Name"); key.String(*v.Name) }
	if v.Filters != nil { key := object.Key("Filters"); awsAwsquery_serializeDocumentFilters(v.Filters, key) }
	body.Key("Version").String("2011-01-01")
}
func awsAwsquery_serializeDocumentFilters(v []types.Filter) { value.Array("member") }
func awsAwsquery_serializeDocumentFilter(v *types.Filter) {
	if v.Key != nil { key := object.Key("Key"); key.String(*v.Key) }
	if v.Values != nil { key := object.Key("Values"); awsAwsquery_serializeDocumentFilters(v.Values, key) }
}`,
	"deserializers.go": `package x
func awsAwsquery_deserializeOpErrorGet() {
	switch { case strings.EqualFold("Gone", errorCode): return }
}
func awsAwsquery_deserializeOpDocumentGetOutput(v **GetOutput) {
	switch {
	case strings.EqualFold("Thing", name): sv.Thing = x
	case strings.EqualFold("Other", name): sv.Other = x
	}
}
func awsAwsquery_deserializeDocumentThing(v **types.Thing) {
	switch {
	case strings.EqualFold("size", name): sv.Size = x
	case strings.EqualFold("colour", name): sv.Colour = x
	}
}
func awsAwsquery_deserializeDocumentOther(v **types.Other) {
	switch { case strings.EqualFold("size", name): sv.Size = x }
}`,
	"validators.go": `package x
func validateOpGetInput(v *GetInput) error {
	if v.Name == nil { invalidParams.Add(smithy.NewErrParamRequired("Name")) }
	return nil
}
func validateFilter(v *types.Filter) error {
	if v.Key == nil { invalidParams.Add(smithy.NewErrParamRequired("Key")) }
	return nil
}`,
}

func written(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "x@v1.0.0")
	for name, text := range module {
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestRead(t *testing.T) {
	t.Parallel()
	got, err := Read(written(t))
	if err != nil {
		t.Fatal(err)
	}
	operation := shapes.Operation{Version: "2011-01-01", Success: []int{200}, Body: "GetInput", Errors: []string{"Gone"}}
	if diff := cmp.Diff(map[string]shapes.Operation{"Get": operation}, got.Operations); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for name, want := range (shapes.Types{
		"GetInput": {"Name": "*string", "Filters": "[]Filter"}, "Filter": {"Key": "*string", "Values": "[]string"},
	}) {
		if diff := cmp.Diff(want, got.Types[name]); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// TestStructs holds that types of requests are whole, and that others have what code names.
func TestStructs(t *testing.T) {
	t.Parallel()
	text, err := Structs(written(t), []string{"Get"}, nil, map[string]bool{"Thing": true, "Size": true})
	if err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(string(text), "package x\n")
	want := `
type (
	Filter struct {
		Key    *string  ` + "`json:\",omitempty\" query:\"Key\" xml:\"-\"`" + `
		Values []string ` + "`json:\",omitempty\" query:\"Values,member\" xml:\"-\"`" + `
	}
	GetInput struct {
		Name    *string  ` + "`json:\",omitempty\" query:\"Name\" xml:\"-\"`" + `
		Filters []Filter ` + "`json:\",omitempty\" query:\"Filters,member\" xml:\"-\"`" + `
	}
	GetOutput struct {
		Thing *Thing ` + "`json:\",omitempty\" xml:\"Thing,omitempty\"`" + `
	}
	Thing struct {
		Size *int32 ` + "`json:\",omitempty\" xml:\"size,omitempty\"`" + `
	}
)
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	whole, err := Structs(written(t), []string{"Get"}, []string{"Other"}, nil)
	if err != nil || strings.Contains(string(whole), "Thing") || !strings.Contains(string(whole), "Other struct {\n\t\tSize") {
		t.Errorf("want what is filled from requests whole, got %v\n%s", err, whole)
	}
}
