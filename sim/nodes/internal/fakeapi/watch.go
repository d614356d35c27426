package fakeapi

import (
	"context"
	"encoding/json"
	"net/http"
	"path"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// watch streams what happens after the given version until the client leaves or the server closes.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, q request) {
	version, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changed.Broadcast()
	})
	defer stop()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	for {
		_ = flush.Flush() // A client that has gone away ends ctx.
		next := s.after(ctx, version, q)
		if next == nil {
			return
		}
		version = next.version
		raw, err := encode(next.object.DeepCopyObject())
		if err != nil {
			return
		}
		line, err := json.Marshal(metav1.WatchEvent{Type: next.kind, Object: runtime.RawExtension{Raw: raw}})
		if err != nil {
			return
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return
		}
	}
}

// after waits for the first event past a version that the request selects; nil when it is over.
func (s *Server) after(ctx context.Context, version int, q request) *event {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ctx.Err() == nil && !s.closed {
		for i := range s.log {
			if e := s.log[i]; e.version > version && kindOf(e.object) == path.Base(q.collection) &&
				q.matches(key(e.object, q.collection), e.object) {
				return &e
			}
		}
		s.changed.Wait()
	}
	return nil
}

func kindOf(o runtime.Object) string {
	kinds, _, err := scheme.Scheme.ObjectKinds(o)
	if err != nil || len(kinds) == 0 {
		return ""
	}
	return map[string]string{"Pod": "pods", "Node": "nodes", "ConfigMap": "configmaps", "Lease": "leases",
		"CertificateSigningRequest": "certificatesigningrequests"}[kinds[0].Kind]
}

// Await waits until ok holds for an object; it is true then, or false when ctx ended before that. A nil object means that there is none.
func (s *Server) Await(ctx context.Context, resource, namespace, name string, ok func(runtime.Object) bool) bool {
	stop := context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changed.Broadcast()
	})
	defer stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if o := s.objects[resource+"/"+namespace+"/"+name]; o != nil && ok(o) || o == nil && ok(nil) {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		s.changed.Wait()
	}
}

// PutPod stores a pod as the scheduler or a user would.
func (s *Server) PutPod(p *corev1.Pod) { s.put("/api/v1/pods", p.DeepCopy()) }

// PutNode stores a Node.
func (s *Server) PutNode(n *corev1.Node) { s.put("/api/v1/nodes", n.DeepCopy()) }

// DeleteNode removes a Node.
func (s *Server) DeleteNode(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.objects["nodes//"+name]; o != nil {
		s.store("nodes//"+name, o.DeepCopyObject().(object), "DELETED")
	}
}

// Calls lists every call so far as user, verb and resource.
func (s *Server) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.users...)
}
