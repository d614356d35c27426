package webhook

import (
	"context"
	"fmt"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
)

// A value that its field can't hold is refused with the field, what was found and what is allowed, in the causes as well.
func TestBadValuesNameTheirFields(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := azurev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	webhook := naming(scheme, admission.WithDefaulter[*azurev1.AzureMachinePool](scheme, noDefaults{}))
	for _, c := range []struct{ why, spec, field, want string }{
		{"a price that is none", `"template":{"vmSize":"S","spotVMOptions":{"maxPrice":"NaN"}}`, "spec.template.spotVMOptions.maxPrice",
			`found "NaN", must be a quantity such as 500m or 10Gi`},
		{"a number that no integer holds", `"template":{"osDisk":{"osType":"Linux","diskSizeGB":99999999999}}`, "spec.template.osDisk.diskSizeGB",
			"found 99999999999, must be a whole number from -2147483648 to 2147483647"},
		{"a number without an end", `"template":{"osDisk":{"diskSizeGB":1e999}}`, "spec.template.osDisk.diskSizeGB", "found 1e999, must be a whole"},
		{"one in a list", `"template":{"dataDisks":[{"nameSuffix":"a"},{"lun":1.5}]}`, "spec.template.dataDisks[1].lun", "found 1.5, must be a whole"},
		{"a list where an object belongs", `"template":[]`, "spec.template", "found a list, must be an object"},
	} {
		raw := fmt.Sprintf(`{"apiVersion":%q,"kind":"AzureMachinePool","metadata":{"name":"w","namespace":"default"},"spec":{"location":"x",%s}}`,
			azurev1.GroupVersion, c.spec)
		got := webhook.Handler.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: admissionv1.Create,
			Name: "w", Kind: metav1.GroupVersionKind{Group: azurev1.GroupVersion.Group, Version: "v1beta1", Kind: azurev1.AzureMachinePoolKind},
			Object: runtime.RawExtension{Raw: []byte(raw)}}})
		if got.Allowed || got.Result.Details == nil || len(got.Result.Details.Causes) != 1 {
			t.Errorf("%s: want it refused with one cause, got %v", c.why, got.Result)
			continue
		}
		if cause := got.Result.Details.Causes[0]; cause.Field != c.field || !strings.Contains(cause.Message, c.want) {
			t.Errorf("%s: want %s: %s, got %+v", c.why, c.field, c.want, cause)
		}
	}
}

// noDefaults leaves objects as they are.
type noDefaults struct{}

func (noDefaults) Default(context.Context, *azurev1.AzureMachinePool) error { return nil }

// A conversion that fails because a value can't be decoded names its field as well.
func TestConversionsNameTheFields(t *testing.T) {
	t.Parallel()
	handler := converting(t)
	for spec, want := range map[string]string{
		`"replicas":99999999999`: "spec.replicas: Invalid value: found 99999999999, must be a whole number from -2147483648 to 2147483647",
		`"template":{"spec":{"clusterName":"c","nodeDrainTimeout":"NaN"}}`: "spec.template.spec.nodeDrainTimeout: Invalid value: " +
			`found "NaN", must be a duration such as 1m30s`,
	} {
		object := `{"apiVersion":"cluster.x-k8s.io/v1beta1","kind":"MachinePool","metadata":{"name":"w"},"spec":{"clusterName":"c",` + spec + `}}`
		if _, got := convert(t, handler, "cluster.x-k8s.io/v1beta2", object); !strings.Contains(got, want) {
			t.Errorf("%s: want %s, got %s", spec, want, got)
		}
	}
}
