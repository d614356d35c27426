package webhook

import (
	"context"
	"encoding/json"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/muster-project/muster/kube/policy/gates/approval"
)

// recording returns a webhook that fills in fields with one that records who approves gates, too.
func recording(w *admission.Webhook) *admission.Webhook {
	w.Handler = recordingHandler{w.Handler}
	return w
}

// recordingHandler writes the user that approves a gate next to the approval, in place of what the user wrote there.
type recordingHandler struct{ admission.Handler }

// Handle answers as the handler does, with the record added to what it changes.
func (h recordingHandler) Handle(ctx context.Context, req admission.Request) admission.Response {
	resp := h.Handler.Handle(ctx, req)
	if !resp.Allowed || len(req.Object.Raw) == 0 {
		return resp
	}
	record, err := recordOf(req)
	if err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	resp.Patches = append(resp.Patches, record.Patches...)
	return resp
}

// recordOf returns the change that makes the record of an object right; none if it is.
func recordOf(req admission.Request) (admission.Response, error) {
	var before, written metav1.PartialObjectMetadata
	if err := json.Unmarshal(req.Object.Raw, &written); err != nil {
		return admission.Response{}, err
	}
	if len(req.OldObject.Raw) > 0 {
		if err := json.Unmarshal(req.OldObject.Raw, &before); err != nil {
			return admission.Response{}, err
		}
	}
	record := approval.Record(before.Annotations, written.Annotations, req.UserInfo.Username)
	if found, ok := written.Annotations[approval.ByAnnotation]; found == record && ok == (record != "") {
		return admission.Response{}, nil
	}
	is, err := annotated(written.Annotations)
	if err != nil {
		return admission.Response{}, err
	}
	if written.Annotations[approval.ByAnnotation] = record; record == "" {
		delete(written.Annotations, approval.ByAnnotation)
	}
	right, err := annotated(written.Annotations)
	if err != nil {
		return admission.Response{}, err
	}
	return admission.PatchResponseFromRaw(is, right), nil
}

// annotated returns the part of an object that holds its annotations. There are some: what is approved, or the record that goes.
func annotated(annotations map[string]string) ([]byte, error) {
	return json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
}
