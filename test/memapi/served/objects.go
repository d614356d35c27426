package served

import (
	"context"
	"errors"
	"net/http"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// resources are the kinds that the server has, by the names of their resources.
var resources = map[string]struct {
	object client.Object
	list   client.ObjectList
}{
	"configmaps": {&corev1.ConfigMap{}, &corev1.ConfigMapList{}},
	"nodes":      {&corev1.Node{}, &corev1.NodeList{}},
	"pods":       {&corev1.Pod{}, &corev1.PodList{}},
	"leases":     {&coordinationv1.Lease{}, &coordinationv1.LeaseList{}},
	"certificatesigningrequests": {&certificatesv1.CertificateSigningRequest{},
		&certificatesv1.CertificateSigningRequestList{}},
}

// nodeName is the field by which a kubelet selects its pods.
const nodeName = "spec.nodeName"

// object returns an empty object of the resource, under the name of the request.
func (q request) object() client.Object {
	o := resources[q.resource].object.DeepCopyObject().(client.Object)
	o.SetNamespace(q.namespace)
	o.SetName(q.name)
	return o
}

// handle carries out a request on the API server in memory.
func (s *Server) handle(ctx context.Context, q request, body []byte) (runtime.Object, error) {
	defer s.wake()
	c, o := s.api.Client(), q.object()
	switch q.verb {
	case "get":
		if q.name == "" {
			list := resources[q.resource].list.DeepCopyObject().(client.ObjectList)
			return list, c.List(ctx, list, client.InNamespace(q.namespace), client.MatchingFieldsSelector{Selector: q.selector})
		}
		return o, c.Get(ctx, client.ObjectKeyFromObject(o), o)
	case "post":
		if q.sub == "eviction" {
			return succeeded(), c.Delete(ctx, o, client.GracePeriodSeconds(1))
		}
		return s.create(ctx, q, body)
	case "put":
		sent, err := decode(body)
		switch {
		case err != nil:
			return nil, err
		case q.sub == status:
			return sent, c.Status().Update(ctx, sent)
		}
		return sent, c.Update(ctx, sent)
	case "patch":
		p := client.RawPatch(q.patch, body)
		if q.sub == status {
			return o, c.Status().Patch(ctx, o, p)
		}
		return o, c.Patch(ctx, o, p)
	case "delete":
		return s.delete(ctx, q, body)
	}
	return nil, apierrors.NewMethodNotSupported(q.group(), q.verb)
}

// status is the subresource of that name.
const status = "status"

// succeeded is the answer to a deletion. Each one has its own, which is written to when it is encoded.
func succeeded() *metav1.Status { return &metav1.Status{Status: metav1.StatusSuccess} }

// decode reads a body in any of the encodings that Kubernetes has.
func decode(body []byte) (client.Object, error) {
	o, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	typed, ok := o.(client.Object)
	if !ok {
		return nil, apierrors.NewBadRequest("want an object")
	}
	return typed, nil
}

func (s *Server) create(ctx context.Context, q request, body []byte) (runtime.Object, error) {
	o, err := decode(body)
	if err != nil {
		return nil, err
	}
	o.SetNamespace(q.namespace)
	if err := s.api.Client().Create(ctx, o); err != nil {
		return nil, err
	}
	if csr, ok := o.(*certificatesv1.CertificateSigningRequest); ok {
		return o, s.decide(ctx, csr.DeepCopy())
	}
	return o, nil
}

// decide does what the controllers do that approve and sign.
func (s *Server) decide(ctx context.Context, csr *certificatesv1.CertificateSigningRequest) error {
	condition := certificatesv1.CertificateSigningRequestCondition{Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue,
		Reason: "AutoApproved"}
	switch s.sign(csr.Name) {
	case Silence:
		return nil
	case Deny:
		condition.Type, condition.Reason, condition.Message = certificatesv1.CertificateDenied, "NotWanted", "denied by the test"
	case Fail:
		condition.Type, condition.Reason, condition.Message = certificatesv1.CertificateFailed, "SignerValidationFailure", "failed by the test"
	default:
		cert, err := s.ca.client(csr.Spec.Request)
		if err != nil {
			condition.Type, condition.Message = certificatesv1.CertificateFailed, err.Error()
		}
		csr.Status.Certificate = cert
	}
	csr.Status.Conditions = append(csr.Status.Conditions, condition)
	return s.api.Client().Status().Update(ctx, csr)
}

// delete deletes an object. A pod is given a second to end, and its kubelet deletes it then: that may be no one else's deletion.
func (s *Server) delete(ctx context.Context, q request, body []byte) (runtime.Object, error) {
	o, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, &metav1.DeleteOptions{})
	options, ok := o.(*metav1.DeleteOptions)
	if err != nil || !ok {
		return nil, apierrors.NewBadRequest("want DeleteOptions")
	}
	with := &client.DeleteOptions{Preconditions: options.Preconditions, GracePeriodSeconds: options.GracePeriodSeconds}
	now := options.GracePeriodSeconds != nil && *options.GracePeriodSeconds == 0
	switch {
	case q.resource != "pods" || now:
	case strings.HasPrefix(q.user, "system:node:"):
		return nil, apierrors.NewGenericServerResponse(http.StatusBadRequest, "delete", q.group(), q.name,
			"a kubelet deletes with grace period 0", 0, true)
	default:
		with.GracePeriodSeconds = new(int64(1))
	}
	return succeeded(), s.api.Client().Delete(ctx, q.object(), with)
}

// matches reports whether the request selects an object.
func (q request) matches(o client.Object) bool {
	set := fields.Set{"metadata.name": o.GetName()}
	if pod, ok := o.(*corev1.Pod); ok {
		set[nodeName] = pod.Spec.NodeName
	}
	return sameKind(o, resources[q.resource].object) && q.selector.Matches(set) && (q.namespace == "" || q.namespace == o.GetNamespace())
}

func sameKind(a, b client.Object) bool {
	one, _, errOne := scheme.Scheme.ObjectKinds(a)
	other, _, errOther := scheme.Scheme.ObjectKinds(b)
	return errors.Join(errOne, errOther) == nil && one[0] == other[0]
}

// patchType returns the kind of a patch.
func patchType(r *http.Request) types.PatchType {
	media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return types.PatchType(media)
}
