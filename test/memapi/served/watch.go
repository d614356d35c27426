package served

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/test/memapi"
)

// watch streams what happens after the given version until the client leaves or the server closes.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, q request) {
	version, _ := strconv.ParseInt(r.URL.Query().Get("resourceVersion"), 10, 64)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(ctx, s.wake)()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	for {
		_ = flush.Flush() // A client that has gone away ends ctx.
		events := s.after(ctx, version)
		if len(events) == 0 {
			return
		}
		for _, e := range events {
			version = e.Revision
			line, err := q.line(e)
			if err != nil {
				return
			}
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	}
}

// line returns an event as a line of the answer; nothing for one that the request does not select.
func (q request) line(e memapi.Event) ([]byte, error) {
	kind, o := watch.Modified, e.New
	switch {
	case e.Old == nil:
		kind = watch.Added
	case e.New == nil:
		kind, o = watch.Deleted, e.Old
	}
	if !q.matches(o) {
		return nil, nil
	}
	o = o.DeepCopyObject().(client.Object)
	o.SetResourceVersion(strconv.FormatInt(e.Revision, 10))
	raw, err := encode(o)
	if err != nil {
		return nil, err
	}
	line, err := json.Marshal(metav1.WatchEvent{Type: string(kind), Object: runtime.RawExtension{Raw: raw}})
	return append(line, '\n'), err
}

// after waits for what happens past a version; nothing when the watch is over.
func (s *Server) after(ctx context.Context, version int64) []memapi.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ctx.Err() == nil && !s.closed {
		if events := s.api.Since(version); len(events) > 0 {
			return events
		}
		s.changed.Wait()
	}
	return nil
}

// wake has watches and Await look again.
func (s *Server) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed.Broadcast()
}

// Await waits until ok holds for an object; it is true then, or false when ctx ended before that. A nil object means that there is none.
func (s *Server) Await(ctx context.Context, resource, namespace, name string, ok func(runtime.Object) bool) bool {
	defer context.AfterFunc(ctx, s.wake)()
	q := request{resource: resource, namespace: namespace, name: name}
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		o := q.object()
		err := s.api.Client().Get(context.WithoutCancel(ctx), client.ObjectKeyFromObject(o), o)
		if err == nil && ok(o) || err != nil && ok(nil) {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		s.changed.Wait()
	}
}

// Put stores an object as it is, as a controller with all rights would.
func (s *Server) Put(o client.Object) error {
	defer s.wake()
	return s.api.Put(o)
}

// DeleteNode removes a Node.
func (s *Server) DeleteNode(ctx context.Context, name string) error {
	defer s.wake()
	return s.api.Client().Delete(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
}

// Calls lists every call so far as user, verb and resource.
func (s *Server) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.users...)
}
