package webhook_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	"github.com/muster-project/muster/api/aws/v1beta1"
	"github.com/muster-project/muster/api/aws/v1beta2"
)

// TestConversionOfAWSMachinePools sends what an API server sends through the handler that the controllers serve: the seed manifest with
// subnets as strings is stored as objects, and reading it back as v1beta1 gives objects.
func TestConversionOfAWSMachinePools(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1beta1.AddToScheme, v1beta2.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	if ok, err := conversion.IsConvertible(scheme, &v1beta2.AWSMachinePool{}); !ok || err != nil {
		t.Fatalf("the kind is not served by the conversion webhook: %t, %v", ok, err)
	}
	handler := conversion.NewWebhookHandler(scheme, conversion.NewRegistry())

	cases := []struct {
		name, reason, to, object string
		want, refused            string
	}{
		{
			name: "strings to storage", reason: "how the seed manifest is applied", to: "v1beta2",
			object: `{"apiVersion":"infrastructure.cluster.x-k8s.io/v1beta1","kind":"AWSMachinePool","metadata":{"name":"capa-mp-0"},"spec":{"subnets":["subnet-1"]}}`,
			want:   `"subnets":[{"id":"subnet-1"}]`,
		},
		{
			name: "storage to older", reason: "how it is read back", to: "v1beta1",
			object: `{"apiVersion":"infrastructure.cluster.x-k8s.io/v1beta2","kind":"AWSMachinePool","metadata":{"name":"capa-mp-0"},"spec":{"subnets":[{"id":"subnet-1"}]}}`,
			want:   `"subnets":[{"id":"subnet-1"}]`,
		},
		{
			name: "neither", reason: "the user is told which item and what is allowed", to: "v1beta2",
			object:  `{"apiVersion":"infrastructure.cluster.x-k8s.io/v1beta1","kind":"AWSMachinePool","metadata":{"name":"capa-mp-0"},"spec":{"subnets":["subnet-1",true]}}`,
			refused: "spec.subnets[1]: want a subnet's ID as a string, or an object with id or filters, found a boolean",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			answer := review(t, handler, c.to, c.object)
			if c.refused != "" {
				if !strings.Contains(answer.Result.Message, c.refused) {
					t.Fatalf("%s: got %q, want %q", c.reason, answer.Result.Message, c.refused)
				}
				return
			}
			if len(answer.ConvertedObjects) != 1 {
				t.Fatalf("%s: got %s, want one object", c.reason, answer.Result.Message)
			}
			got := string(answer.ConvertedObjects[0].Raw)
			if !strings.Contains(got, c.want) {
				t.Errorf("%s:\n got %s\nwant it to contain %s", c.reason, got, c.want)
			}
			// What has not been observed yet must not look observed.
			if strings.Contains(got, `"status"`) {
				t.Errorf("%s: got a status out of nothing: %s", c.reason, got)
			}
		})
	}
}

// review asks the handler to convert one object and gives its answer.
func review(t *testing.T, handler http.Handler, to, object string) *apiextensionsv1.ConversionResponse {
	t.Helper()
	body, err := json.Marshal(apiextensionsv1.ConversionReview{Request: &apiextensionsv1.ConversionRequest{
		UID:               "1",
		DesiredAPIVersion: "infrastructure.cluster.x-k8s.io/" + to,
		Objects:           []runtime.RawExtension{{Raw: []byte(object)}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, "/convert", bytes.NewReader(body)))
	var answer apiextensionsv1.ConversionReview
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil || answer.Response == nil {
		t.Fatalf("%v in %s", err, recorder.Body)
	}
	return answer.Response
}
