package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"

	apix "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/muster-project/muster/api/common"
)

// naming returns the webhook with refusals that name the fields of an object that can't be decoded.
func naming(scheme *runtime.Scheme, w *admission.Webhook) *admission.Webhook {
	w.Handler = namingHandler{Handler: w.Handler, scheme: scheme}
	return w
}

// namingHandler names the fields that a decoder names not, or in Go's words.
type namingHandler struct {
	admission.Handler

	scheme *runtime.Scheme
}

// Handle answers as the handler does, unless the object can't be decoded.
func (h namingHandler) Handle(ctx context.Context, req admission.Request) admission.Response {
	resp := h.Handler.Handle(ctx, req)
	if resp.Allowed || resp.Result == nil || resp.Result.Code != http.StatusBadRequest {
		return resp
	}
	kind := schema.GroupVersionKind(req.Kind)
	errs := badFields(h.scheme, kind, req.Object.Raw)
	if len(errs) == 0 {
		return resp
	}
	status := apierrors.NewInvalid(kind.GroupKind(), req.Name, errs).ErrStatus
	resp.Result = &status
	return resp
}

// badFields returns an error for each field of an object that can't be decoded. A kind that the scheme does not know has none.
func badFields(scheme *runtime.Scheme, kind schema.GroupVersionKind, raw []byte) field.ErrorList {
	if !scheme.Recognizes(kind) {
		return nil
	}
	decoder := admission.NewDecoder(scheme)
	var errs field.ErrorList
	for _, bad := range common.BadValues("", raw, func(document []byte) error {
		into, err := scheme.New(kind)
		if err != nil {
			return err
		}
		return decoder.DecodeRaw(runtime.RawExtension{Raw: document}, into)
	}) {
		errs = append(errs, &field.Error{Type: field.ErrorTypeInvalid, Field: bad.Field, BadValue: field.OmitValueType{}, Detail: bad.Detail()})
	}
	return errs
}

// namingConversions answers as the handler of conversions does. Where it can't decode an object, the answer names the fields.
func namingConversions(scheme *runtime.Scheme, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(&conversionWriter{ResponseWriter: w, scheme: scheme, request: body}, req)
	})
}

// conversionWriter writes the answer to a conversion, which is written at once.
type conversionWriter struct {
	http.ResponseWriter

	scheme  *runtime.Scheme
	request []byte
}

// Write writes the answer, with the fields that can't be decoded where it is a failure.
func (w *conversionWriter) Write(answer []byte) (int, error) {
	if !bytes.Contains(answer, []byte(`"status":"Failure"`)) {
		return w.ResponseWriter.Write(answer)
	}
	var request, review apix.ConversionReview
	if json.Unmarshal(w.request, &request) != nil || json.Unmarshal(answer, &review) != nil || request.Request == nil ||
		review.Response == nil || review.Response.Result.Status != metav1.StatusFailure {
		return w.ResponseWriter.Write(answer)
	}
	for _, o := range request.Request.Objects {
		var head metav1.PartialObjectMetadata
		if json.Unmarshal(o.Raw, &head) != nil {
			continue
		}
		if errs := badFields(w.scheme, head.GroupVersionKind(), o.Raw); len(errs) > 0 {
			review.Response.Result = apierrors.NewInvalid(head.GroupVersionKind().GroupKind(), head.Name, errs).ErrStatus
			break
		}
	}
	named, err := json.Marshal(&review)
	if err != nil {
		return w.ResponseWriter.Write(answer)
	}
	if _, err := w.ResponseWriter.Write(named); err != nil {
		return 0, err
	}
	return len(answer), nil
}
