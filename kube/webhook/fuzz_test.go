package webhook

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// documents are objects as people write and API servers store them, those of the published examples among them.
var documents = []string{
	seedPool,
	`{"apiVersion":"infrastructure.cluster.x-k8s.io/v1beta1","kind":"AWSMachinePool","metadata":{"name":"capa-mp-0"},"spec":{"minSize":1,"maxSize":10,"availabilityZones":["eu-west-1a"],
"awsLaunchTemplate":{"instanceType":"t3.large","sshKeyName":"default","iamInstanceProfile":"nodes.cluster-api-provider-aws.sigs.k8s.io"},"subnets":["subnet-1",{"filters":[{"name":"n","values":["v"]}]}]}}`,
	`{"apiVersion":"infrastructure.cluster.x-k8s.io/v1beta2","kind":"AWSMachinePool","metadata":{"name":"capa-mp-0","annotations":{"muster.dev/owner-id":"x"}},"spec":{"minSize":1,"maxSize":10,
"awsLaunchTemplate":{"privateDnsName":{"hostnameType":"ip-name"}},"lifecycleHooks":[{"name":"h","lifecycleTransition":"autoscaling:EC2_INSTANCE_LAUNCHING"}],"defaultInstanceWarmup":"1m","refreshPreferences":{"disable":true}}}`,
	`{"apiVersion":"infrastructure.cluster.x-k8s.io/v1beta1","kind":"AWSMachinePool","metadata":{"annotations":{"cluster.x-k8s.io/conversion-data":"{\"spec\":{\"refreshPreferences\":{\"disable\":true},\"lifecycleHooks\":[null]},\"status\":null}"}},"spec":{"refreshPreferences":{}}}`,
	`{"apiVersion":"bootstrap.cluster.x-k8s.io/v1beta1","kind":"KubeadmConfig","metadata":{"name":"capa-mp-0"},"spec":{"joinConfiguration":{"nodeRegistration":{"name":"{{ ds.meta_data.local_hostname }}","kubeletExtraArgs":{"cloud-provider":"aws"}}}}}`,
	`{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Cluster","metadata":{"annotations":{"cluster.x-k8s.io/conversion-data":"{\"spec\":{\"topology\":{}}}"}},"spec":{"topology":{"classRef":{"name":"c"},"version":"v1.36.3"}}}`,
	`{"apiVersion":"cluster.x-k8s.io/v1beta1","kind":"Machine","metadata":{"annotations":{"cluster.x-k8s.io/conversion-data":"null"}},"status":{"nodeRef":null,"conditions":[null]}}`,
	`{"apiVersion":"cluster.x-k8s.io/v1beta1","kind":"MachinePool","spec":{"template":{"spec":{"nodeDrainTimeout":"5m0s","infrastructureRef":{"apiVersion":"///"}}}}}`,
}

// askConversion sends a body to the handler and gives the answer. It fails when that is none that an API server understands.
func askConversion(t *testing.T, h http.Handler, body []byte) *apiextensionsv1.ConversionResponse {
	t.Helper()
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, ConvertPath, bytes.NewReader(body)))
	if recorder.Code >= 400 && recorder.Code < 500 {
		return nil
	}
	var answer apiextensionsv1.ConversionReview
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); recorder.Code != http.StatusOK || err != nil || answer.Response == nil {
		t.Fatalf("want an answer or a refusal, got %d, %v, %q for %s", recorder.Code, err, recorder.Body, body)
	}
	if strings.Contains(answer.Response.Result.Message, "internal error occurred during conversion") {
		t.Fatalf("want no panic, which this stands for, got %q for %s", answer.Response.Result.Message, body)
	}
	return answer.Response
}

// FuzzConvertBody holds that whatever is sent to the path of conversion is answered or refused, and panics nowhere.
func FuzzConvertBody(f *testing.F) {
	h := converting(f)
	for _, body := range []string{"", "{}", `{"request":{}}`, `{"request":{"uid":"1","desiredAPIVersion":"v1","objects":[null,{},[],"x"]}}`,
		`{"request":null}`, `[]`} {
		f.Add([]byte(body))
	}
	for _, object := range documents {
		f.Add([]byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"1","desiredAPIVersion":"cluster.x-k8s.io/v1beta2","objects":[` + object + `]}}`))
		f.Add([]byte(`{"kind":"ConversionReview","request":{"uid":"1","desiredAPIVersion":"infrastructure.cluster.x-k8s.io/v1beta1","objects":[` +
			object + `]}}`))
	}
	f.Fuzz(func(t *testing.T, body []byte) { askConversion(t, h, body) })
}

// FuzzConvertObject holds that an object that is taken keeps its name, can be read back in the version that it came in, and
// that from then on the two versions say the same.
func FuzzConvertObject(f *testing.F) {
	h := converting(f)
	for _, object := range documents {
		f.Add([]byte(object))
	}
	f.Fuzz(func(t *testing.T, object []byte) {
		var head metav1.PartialObjectMetadata
		// Field names have a case, unlike encoding/json's.
		if utiljson.Unmarshal(object, &head) != nil || len(head.ManagedFields) > 0 {
			return
		}
		from, group := head.APIVersion, head.GroupVersionKind().Group
		to := group + "/v1beta1"
		if from == to {
			to = group + "/v1beta2"
		}
		var seen []map[string]any
		for i := range 4 {
			version := to
			if i%2 == 1 {
				version = from
			}
			answer := askConversion(t, h, review(t, version, object))
			if answer == nil || answer.Result.Status != metav1.StatusSuccess {
				if i > 0 {
					t.Fatalf("want what was taken to be read back as %s, got %+v for %s", version, answer, object)
				}
				return
			}
			object = answer.ConvertedObjects[0].Raw
			seen = append(seen, withoutConversionData(t, object))
		}
		var got metav1.PartialObjectMetadata
		if err := utiljson.Unmarshal(object, &got); err != nil {
			t.Fatal(err)
		}
		if got.Name != head.Name || got.Namespace != head.Namespace || got.UID != head.UID || !maps.Equal(got.Labels, head.Labels) ||
			got.APIVersion != from {
			t.Errorf("want the same object, %+v, got %+v", head, got)
		}
		for i := range 2 {
			if diff := cmp.Diff(seen[i], seen[i+2]); diff != "" {
				t.Errorf("want nothing lost on the way there and back (-before +after):\n%s", diff)
			}
		}
	})
}

func review(t *testing.T, version string, object []byte) []byte {
	t.Helper()
	body, err := json.Marshal(apiextensionsv1.ConversionReview{Request: &apiextensionsv1.ConversionRequest{
		UID: "1", DesiredAPIVersion: version, Objects: []runtime.RawExtension{{Raw: object}}}})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// withoutConversionData is an object without what conversions keep aside on it, in which order and form are free.
func withoutConversionData(t *testing.T, object []byte) map[string]any {
	t.Helper()
	got := map[string]any{}
	if err := json.Unmarshal(object, &got); err != nil {
		t.Fatal(err)
	}
	if meta, ok := got["metadata"].(map[string]any); ok {
		if annotations, ok := meta["annotations"].(map[string]any); ok {
			delete(annotations, "cluster.x-k8s.io/conversion-data")
			if len(annotations) == 0 {
				delete(meta, "annotations")
			}
		}
	}
	return got
}

// FuzzAdmission holds that every review of a MachinePool is answered, and that what is left open in one is filled in so that
// doing it again changes nothing.
func FuzzAdmission(f *testing.F) {
	scheme := testScheme(f)
	mutate := admission.WithDefaulter[*clusterv1.MachinePool](scheme, &poolDefaulter{decoder: admission.NewDecoder(scheme)})
	validate := admission.WithValidator[*clusterv1.MachinePool](scheme, poolValidator{})
	pool := strings.Replace(seedPool, "v1beta1", "v1beta2", 1)
	f.Add([]byte(`{"request":{"uid":"1","operation":"CREATE","object":` + pool + `}}`))
	f.Add([]byte(`{"request":{"uid":"1","operation":"UPDATE","object":` + pool + `,"oldObject":` + pool + `}}`))
	f.Add([]byte(`{"request":{"uid":"1","operation":"UPDATE","object":` + pool + `}}`))
	f.Add([]byte(`{"request":{"uid":"1","operation":"DELETE","oldObject":null}}`))
	f.Add([]byte(`{"request":{"operation":"CREATE","object":[]}}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for path, h := range map[string]http.Handler{DefaultMachinePoolPath: mutate, ValidateMachinePoolPath: validate} {
			request := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body))
			request.Header.Set("Content-Type", "application/json")
			recorder := httptest.NewRecorder()
			h.ServeHTTP(recorder, request)
			var answer admissionv1.AdmissionReview
			if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil || answer.Response == nil {
				t.Fatalf("%s: want an answer, got %v, %q for %s", path, err, recorder.Body, body)
			}
			if r := answer.Response.Result; r != nil && strings.HasSuffix(r.Message, "[recovered]") {
				t.Fatalf("%s: want no panic, got %q for %s", path, r.Message, body)
			}
		}
	})
}

// FuzzDefaults holds that whatever an autoscaler's annotations say, a pool's size is a number that a pool can have, within
// them, and the same when it is asked for again.
func FuzzDefaults(f *testing.F) {
	for _, text := range []string{"0", "3", "-5", "007", "2147483648", "1e3", "", " 1", "many"} {
		f.Add(text, "10", int32(20), true, "1.36.3")
		f.Add("1", text, int32(-1), false, "v1.25.0")
	}
	f.Add("-5", "10", int32(0), false, "")
	f.Fuzz(func(t *testing.T, least, most string, before int32, hadSize bool, version string) {
		pool := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
			clusterv1.AutoscalerMinSizeAnnotation: least, clusterv1.AutoscalerMaxSizeAnnotation: most,
		}}}
		pool.Spec.Template.Spec.Version = version
		old := &clusterv1.MachinePool{}
		if hadSize {
			before = max(before, 0)
			old.Spec.Replicas = &before
		}
		if err := setDefaults(old, pool); err != nil {
			if !strings.Contains(err.Error(), "autoscaler") {
				t.Errorf("want an error that names the annotation, got %v", err)
			}
			return
		}
		got := *pool.Spec.Replicas
		low, errLow := strconv.Atoi(least)
		high, errHigh := strconv.Atoi(most)
		if got < 0 || errLow != nil || errHigh != nil || int(got) > max(low, high) || int(got) < min(low, high) {
			t.Errorf("want a size of 0 or more within %q and %q, got %d", least, most, got)
		}
		again := pool.DeepCopy()
		if err := setDefaults(old, again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(pool, again); diff != "" {
			t.Errorf("want nothing left to fill in:\n%s", diff)
		}
	})
}
