package served

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
)

// maxBody bounds a request.
const maxBody = 1 << 20

// request is one call, taken apart.
type request struct {
	user, verb string
	// namespace, resource, name and sub are the parts of the path.
	namespace, resource, name, sub string
	selector                       fields.Selector
	patch                          types.PatchType
}

// parse takes the path apart.
func parse(r *http.Request) (request, bool) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	i := slices.IndexFunc(parts, func(p string) bool { _, ok := resources[p]; return ok })
	if i < 0 {
		return request{}, false
	}
	q := request{verb: strings.ToLower(r.Method), resource: parts[i], patch: patchType(r)}
	if i > 1 && parts[i-2] == "namespaces" {
		q.namespace = parts[i-1]
	}
	below := append(parts[i+1:len(parts):len(parts)], "", "")
	q.name, q.sub = below[0], below[1]
	var err error
	q.selector, err = fields.ParseSelector(r.URL.Query().Get("fieldSelector"))
	if r.URL.Query().Get("watch") != "" {
		q.verb = "watch"
	}
	return q, err == nil
}

// group returns the resource, for errors.
func (q request) group() schema.GroupResource { return schema.GroupResource{Resource: q.resource} }

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	q, ok := parse(r)
	if !ok {
		fail(w, apierrors.NewGenericServerResponse(http.StatusNotFound, r.Method, schema.GroupResource{}, "", "no such resource", 0, true))
		return
	}
	s.mu.Lock()
	q.user = s.user(r)
	refuse := s.refuse
	s.users = append(s.users, q.user+" "+q.verb+" "+q.resource)
	s.mu.Unlock()
	if status := denied(q, refuse, r.URL.Path); status != 0 {
		fail(w, apierrors.NewGenericServerResponse(status, q.verb, q.group(), q.name, "refused", 0, true))
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		fail(w, err)
		return
	}
	if q.verb == "watch" {
		s.watch(w, r, q)
		return
	}
	out, err := s.handle(r.Context(), q, body)
	if err != nil {
		fail(w, err)
		return
	}
	answer(w, http.StatusOK, out)
}

// anonymousMay is the path that kubeadm opens to anonymous users.
const anonymousMay = "/api/v1/namespaces/kube-public/configmaps/cluster-info"

// denied returns the status code with which a call is rejected, or 0.
func denied(q request, refuse func(user, verb, path string) int, url string) int {
	switch {
	case q.user == "":
		return http.StatusUnauthorized
	case q.user == "system:anonymous" && url != anonymousMay:
		return http.StatusForbidden
	case refuse != nil:
		return refuse(q.user, q.verb, url)
	}
	return 0
}

func fail(w http.ResponseWriter, err error) {
	status := &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure",
		Code: http.StatusInternalServerError, Message: err.Error()}
	if s, ok := err.(apierrors.APIStatus); ok {
		*status = s.Status()
		status.APIVersion, status.Kind = "v1", "Status"
	}
	answer(w, int(status.Code), status)
}

// answer writes an object as JSON, which every client of Kubernetes reads.
func answer(w http.ResponseWriter, code int, o runtime.Object) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	b, err := encode(o)
	if err != nil {
		b = []byte(err.Error())
	}
	_, _ = w.Write(b) // A client that has gone away needs no answer.
}

// encode writes an object as JSON with its kind.
func encode(o runtime.Object) ([]byte, error) {
	if kinds, _, err := scheme.Scheme.ObjectKinds(o); err == nil && len(kinds) > 0 {
		o.GetObjectKind().SetGroupVersionKind(kinds[0])
	}
	return json.Marshal(o)
}
