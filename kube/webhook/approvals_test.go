package webhook

import (
	"context"
	"encoding/json"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/muster-project/muster/kube/policy/gates/approval"
)

// TestRecordsWhoApproves holds that the user of the request is recorded, whatever the user wrote into the record.
func TestRecordsWhoApproves(t *testing.T) {
	t.Parallel()
	object := func(approve, by string) map[string]any {
		annotations := map[string]any{"other": "kept"}
		if approve != "" {
			annotations[approval.Annotation] = approve
		}
		if by != "" {
			annotations[approval.ByAnnotation] = by
		}
		return map[string]any{"kind": "MachinePool", "metadata": map[string]any{"name": "a", "annotations": annotations},
			"spec": map[string]any{"replicas": json.Number("3")}}
	}
	for _, c := range []struct {
		why         string
		old, object map[string]any
		patches     int
		value       any
	}{
		{why: "nothing is approved", object: object("", "")},
		{why: "an object without annotations", object: map[string]any{"metadata": map[string]any{"name": "a"}}},
		{why: "an approval", old: object("", ""), object: object("ok@r1", ""), patches: 1, value: `{"ok@r1":"jane"}`},
		{why: "an approval of a new object", object: object("ok@r1", ""), patches: 1, value: `{"ok@r1":"jane"}`},
		{why: "in the name of another user", old: object("", ""), object: object("ok@r1", `{"ok@r1":"root"}`), patches: 1,
			value: `{"ok@r1":"jane"}`},
		{why: "the same again", old: object("ok@r1", `{"ok@r1":"kim"}`), object: object("ok@r1", `{"ok@r1":"kim"}`)},
		{why: "a record that is taken over", old: object("ok@r1", `{"ok@r1":"kim"}`), object: object("ok@r1", `{"ok@r1":"jane"}`), patches: 1,
			value: `{"ok@r1":"kim"}`},
		{why: "a record without an approval", object: object("", `{"ok@r1":"root"}`), patches: 1},
		{why: "an empty record", object: map[string]any{"metadata": map[string]any{"annotations": map[string]any{approval.ByAnnotation: ""}}},
			patches: 1},
	} {
		req := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{UserInfo: authenticationv1.UserInfo{Username: "jane"},
			Object: raw(t, c.object)}}
		if c.old != nil {
			req.OldObject = raw(t, c.old)
		}
		resp := recording(&admission.Webhook{Handler: allowing{}}).Handler.Handle(t.Context(), req)
		if !resp.Allowed || len(resp.Patches) != c.patches {
			t.Errorf("%s: want %d changes, got %+v", c.why, c.patches, resp)
			continue
		}
		for _, p := range resp.Patches {
			if p.Path != "/metadata/annotations/muster.dev~1approved-by" || p.Value != c.value {
				t.Errorf("%s: want the record %v, got %+v", c.why, c.value, p)
			}
		}
	}
}

// TestRecordsOfRefusedObjects holds that an object that is refused stays refused.
func TestRecordsOfRefusedObjects(t *testing.T) {
	t.Parallel()
	object := raw(t, map[string]any{"metadata": map[string]any{"annotations": map[string]any{approval.Annotation: "ok@r1"}}})
	resp := recordingHandler{refusing{}}.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Object: object}})
	if resp.Allowed || len(resp.Patches) != 0 {
		t.Errorf("want the object refused, got %+v", resp)
	}
}

func raw(t *testing.T, object map[string]any) runtime.RawExtension {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: text}
}

type allowing struct{}

func (allowing) Handle(context.Context, admission.Request) admission.Response {
	return admission.Allowed("")
}

type refusing struct{}

func (refusing) Handle(context.Context, admission.Request) admission.Response {
	return admission.Denied("no")
}
