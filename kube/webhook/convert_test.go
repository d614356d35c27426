package webhook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	bootstrapv1beta1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta1"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	awsv1beta1 "github.com/muster-project/muster/api/aws/v1beta1"
	awsv1beta2 "github.com/muster-project/muster/api/aws/v1beta2"
)

func testScheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		apiextensionsv1.AddToScheme, clusterv1beta1.AddToScheme, clusterv1.AddToScheme,
		bootstrapv1beta1.AddToScheme, bootstrapv1.AddToScheme, awsv1beta1.AddToScheme, awsv1beta2.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

// converting is the handler that Register serves, over a cluster that has the kinds of AWS and of kubeadm installed.
func converting(t testing.TB) http.Handler {
	t.Helper()
	scheme := testScheme(t)
	registry := conversion.NewRegistry()
	if err := addConverters(scheme, registry); err != nil {
		t.Fatal(err)
	}
	crd := func(name, version string) *apiextensionsv1.CustomResourceDefinition {
		return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name,
			Labels: map[string]string{"cluster.x-k8s.io/v1beta2": version}}}
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		crd("awsmachinepools.infrastructure.cluster.x-k8s.io", "v1beta2"), crd("kubeadmconfigs.bootstrap.cluster.x-k8s.io", "v1beta2")).Build()
	return withReader(c, namingConversions(scheme, conversion.NewWebhookHandler(scheme, registry)))
}

// convert sends one object the way an API server does, and returns the answer's object or its refusal.
func convert(t *testing.T, h http.Handler, to, object string) (map[string]any, string) {
	t.Helper()
	body, err := json.Marshal(apiextensionsv1.ConversionReview{Request: &apiextensionsv1.ConversionRequest{
		UID: "1", DesiredAPIVersion: to, Objects: []runtime.RawExtension{{Raw: []byte(object)}}}})
	if err != nil {
		t.Fatal(err)
	}
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, ConvertPath, bytes.NewReader(body)))
	var answer apiextensionsv1.ConversionReview
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil || answer.Response == nil {
		t.Fatalf("want an answer, got %v: %s", err, recorder.Body)
	}
	if answer.Response.Result.Status != metav1.StatusSuccess {
		return nil, answer.Response.Result.Message
	}
	got := map[string]any{}
	if err := json.Unmarshal(answer.Response.ConvertedObjects[0].Raw, &got); err != nil {
		t.Fatal(err)
	}
	return got, ""
}

func at(t *testing.T, o any, path ...string) any {
	t.Helper()
	for _, p := range path {
		m, ok := o.(map[string]any)
		if !ok {
			t.Fatalf("want an object at %v of %v, got %T", p, path, o)
		}
		o = m[p]
	}
	return o
}

const seedPool = `{"apiVersion":"cluster.x-k8s.io/v1beta1","kind":"MachinePool","metadata":{"name":"capa-mp-0","namespace":"default"},"spec":{"clusterName":"capa","replicas":2,
"template":{"spec":{"bootstrap":{"configRef":{"apiVersion":"bootstrap.cluster.x-k8s.io/v1beta1","kind":"KubeadmConfig","name":"capa-mp-0"}},
  "clusterName":"capa",
"infrastructureRef":{"apiVersion":"infrastructure.cluster.x-k8s.io/v1beta1","kind":"AWSMachinePool","name":"capa-mp-0"},"version":"v1.25.0"}}}}`

func TestConversionOfTheSeedPool(t *testing.T) {
	t.Parallel()
	h := converting(t)
	stored, refused := convert(t, h, "cluster.x-k8s.io/v1beta2", seedPool)
	if refused != "" {
		t.Fatal(refused)
	}
	ref := at(t, stored, "spec", "template", "spec", "infrastructureRef").(map[string]any)
	if ref["apiGroup"] != "infrastructure.cluster.x-k8s.io" || ref["kind"] != "AWSMachinePool" || ref["name"] != "capa-mp-0" {
		t.Errorf("reference as stored: want group, kind and name, got %v", ref)
	}
	raw, err := json.Marshal(stored)
	if err != nil {
		t.Fatal(err)
	}
	back, refused := convert(t, h, "cluster.x-k8s.io/v1beta1", string(raw))
	if refused != "" {
		t.Fatal(refused)
	}
	if v := at(t, back, "spec", "template", "spec", "infrastructureRef", "apiVersion"); v != "infrastructure.cluster.x-k8s.io/v1beta1" {
		t.Errorf("reference as read back: want the version that was written, got %v", v)
	}
	if v := at(t, back, "spec", "template", "spec", "bootstrap", "configRef", "apiVersion"); v != "bootstrap.cluster.x-k8s.io/v1beta1" {
		t.Errorf("bootstrap reference as read back: want the version that was written, got %v", v)
	}
}

// TestWrittenReferences holds that references come back as they were written, and only while they are to the same kind, so that a
// client that applies a manifest again changes nothing.
func TestWrittenReferences(t *testing.T) {
	t.Parallel()
	h := converting(t)
	const poolsGroup = "infrastructure.cluster.x-k8s.io/"
	for name, tc := range map[string]struct {
		reason, apiVersion, kind, namespace string
		// edit is made in the stored version.
		edit                        func(stored map[string]any)
		want, wantNamespace, stored string
	}{
		"older": {reason: "as the published manifests have it", apiVersion: poolsGroup + "v1beta1", kind: "AWSMachinePool",
			want: poolsGroup + "v1beta1", stored: `{"spec.template.spec.infrastructureRef":{"apiVersion":"infrastructure.cluster.x-k8s.io/v1beta1","kind":"AWSMachinePool"}}`},
		"newest": {reason: "nothing is remembered that is shown anyway", apiVersion: poolsGroup + "v1beta2", kind: "AWSMachinePool",
			want: poolsGroup + "v1beta2", stored: "<nil>"},
		"own space": {reason: "the same", apiVersion: poolsGroup + "v1beta2", kind: "AWSMachinePool", namespace: "ns",
			want: poolsGroup + "v1beta2", stored: "<nil>", wantNamespace: "ns"},
		"other space": {reason: "it has no effect, and is what the manifest says", apiVersion: poolsGroup + "v1beta2", kind: "AWSMachinePool",
			namespace: "elsewhere", want: poolsGroup + "v1beta2", wantNamespace: "elsewhere",
			stored: `{"spec.template.spec.infrastructureRef":{"apiVersion":"infrastructure.cluster.x-k8s.io/v1beta2","kind":"AWSMachinePool","namespace":"elsewhere"}}`},
		"not there": {reason: "once its kind is installed another version would be shown", apiVersion: poolsGroup + "v1beta1",
			kind: "LaterMachinePool", want: poolsGroup + "v1beta1",
			stored: `{"spec.template.spec.infrastructureRef":{"apiVersion":"infrastructure.cluster.x-k8s.io/v1beta1","kind":"LaterMachinePool"}}`},
		"another kind": {reason: "the version was that of the former", apiVersion: poolsGroup + "v1alpha9", kind: "LaterMachinePool",
			want: poolsGroup + "v1beta2", stored: `{"spec.template.spec.infrastructureRef":{"apiVersion":"infrastructure.cluster.x-k8s.io/v1alpha9","kind":"LaterMachinePool"}}`,
			edit: func(stored map[string]any) {
				_ = unstructured.SetNestedField(stored, "AWSMachinePool", "spec", "template", "spec", "infrastructureRef", "kind")
			}},
		"no JSON": {reason: "an annotation that users broke says nothing", apiVersion: poolsGroup + "v1beta1", kind: "AWSMachinePool",
			want: poolsGroup + "v1beta2",
			edit: func(stored map[string]any) {
				_ = unstructured.SetNestedField(stored, "{", "metadata", "annotations", "muster.dev/written-references")
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ref := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"name":"p","namespace":%q}`, tc.apiVersion, tc.kind, tc.namespace)
			stored, refused := convert(t, h, "cluster.x-k8s.io/v1beta2",
				`{"apiVersion":"cluster.x-k8s.io/v1beta1","kind":"MachinePool","metadata":{"name":"p","namespace":"ns","annotations":{"a":"b"}},
"spec":{"clusterName":"c","template":{"spec":{"clusterName":"c","bootstrap":{"dataSecretName":""},"infrastructureRef":`+ref+`}}}}`)
			if refused != "" {
				t.Fatal(refused)
			}
			if got := fmt.Sprint(at(t, stored, "metadata", "annotations").(map[string]any)["muster.dev/written-references"]); tc.stored != "" &&
				got != tc.stored {
				t.Errorf("%s: stored: want %s, got %s", tc.reason, tc.stored, got)
			}
			if tc.edit != nil {
				tc.edit(stored)
			}
			for range 2 {
				raw, err := json.Marshal(stored)
				if err != nil {
					t.Fatal(err)
				}
				older, refused := convert(t, h, "cluster.x-k8s.io/v1beta1", string(raw))
				if refused != "" {
					t.Fatal(refused)
				}
				got := at(t, older, "spec", "template", "spec", "infrastructureRef").(map[string]any)
				if got["apiVersion"] != tc.want || (tc.wantNamespace != "" && got["namespace"] != tc.wantNamespace) {
					t.Errorf("%s: want %s in namespace %q, got %v", tc.reason, tc.want, tc.wantNamespace, got)
				}
				annotations := at(t, older, "metadata", "annotations").(map[string]any)
				if annotations["muster.dev/written-references"] != nil || annotations["a"] != "b" {
					t.Errorf("annotations: want those of the user alone, got %v", annotations)
				}
				if raw, err = json.Marshal(older); err != nil {
					t.Fatal(err)
				}
				if stored, refused = convert(t, h, "cluster.x-k8s.io/v1beta2", string(raw)); refused != "" {
					t.Fatal(refused)
				}
			}
		})
	}
}

// TestWrittenReferencesOfOthers holds the same of the other kinds that users write.
func TestWrittenReferencesOfOthers(t *testing.T) {
	t.Parallel()
	h := converting(t)
	const ref = `{"apiVersion":"infrastructure.cluster.x-k8s.io/v1beta1","kind":"LaterKind","name":"p"}`
	for object, path := range map[string][]string{
		`{"apiVersion":"cluster.x-k8s.io/v1beta1","kind":"Cluster","metadata":{"name":"c","namespace":"ns"},"spec":{"infrastructureRef":` +
			strings.Replace(ref, "v1beta1", "v1beta2", 1) + `}}`: {"spec", "infrastructureRef", "apiVersion"},
		`{"apiVersion":"cluster.x-k8s.io/v1beta1","kind":"MachineDeployment","metadata":{"name":"c","namespace":"ns"},"spec":{"clusterName":"c","template":{"spec":{"clusterName":"c","infrastructureRef":` + strings.Replace(ref, "v1beta1", "v1beta2", 1) + `}}}}`: {"spec", "template", "spec", "infrastructureRef", "apiVersion"},
	} {
		came := object
		for _, version := range []string{"v1beta2", "v1beta1"} {
			got, refused := convert(t, h, "cluster.x-k8s.io/"+version, came)
			if refused != "" {
				t.Fatal(refused)
			}
			raw, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			came = string(raw)
			if version == "v1beta1" && at(t, got, path...) != "infrastructure.cluster.x-k8s.io/v1beta2" {
				t.Errorf("want the version that was written, got %v of %s", at(t, got, path...), came)
			}
		}
	}
}

func TestConversionOfAPoolWhoseKindIsNotInstalled(t *testing.T) {
	t.Parallel()
	stored := `{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"MachinePool","metadata":{"name":"p","namespace":"default"},"spec":{"clusterName":"c",
"template":{"spec":{"bootstrap":{"dataSecretName":""},"clusterName":"c","infrastructureRef":{"apiGroup":"infrastructure.cluster.x-k8s.io","kind":"GoneMachinePool","name":"p"}}}}}`
	got, refused := convert(t, converting(t), "cluster.x-k8s.io/v1beta1", stored)
	if refused != "" {
		t.Fatalf("a pool must stay readable without its provider, got %s", refused)
	}
	if v := at(t, got, "spec", "template", "spec", "infrastructureRef", "apiVersion"); v != "infrastructure.cluster.x-k8s.io/v1beta1" {
		t.Errorf("reference: want the fallback version, got %v", v)
	}
}

// TestEveryKindIsConverted holds the list of converters to the versions in the scheme: both ways, for each kind.
func TestEveryKindIsConverted(t *testing.T) {
	t.Parallel()
	h := converting(t)
	kinds := []schema.GroupKind{{Group: "infrastructure.cluster.x-k8s.io", Kind: "AWSMachinePool"}}
	for gk := range converters() {
		kinds = append(kinds, gk)
	}
	for _, gk := range kinds {
		t.Run(gk.Kind, func(t *testing.T) {
			t.Parallel()
			for from, to := range map[string]string{"v1beta1": "v1beta2", "v1beta2": "v1beta1"} {
				got, refused := convert(t, h, gk.Group+"/"+to,
					`{"apiVersion":"`+gk.Group+"/"+from+`","kind":"`+gk.Kind+`","metadata":{"name":"x","namespace":"default","labels":{"a":"b"}}}`)
				if refused != "" {
					t.Fatalf("%s to %s: want it converted, got %s", from, to, refused)
				}
				if got["apiVersion"] != gk.Group+"/"+to || at(t, got, "metadata", "name") != "x" || at(t, got, "metadata", "labels", "a") != "b" {
					t.Errorf("%s to %s: want version, name and labels, got %v", from, to, got)
				}
			}
		})
	}
}

func TestConversionWithoutReaderSaysSo(t *testing.T) {
	t.Parallel()
	if _, err := apiVersion(t.Context(), schema.GroupKind{Group: "g", Kind: "K"}); err == nil || !strings.Contains(err.Error(), "no reader") {
		t.Errorf("want an error about the reader, got %v", err)
	}
}
