package world

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/jsonpath"
)

// defaultNamespace is the one that kubectl takes when none is given.
const defaultNamespace = "default"

// Read returns what a JSONPath selects from objects of the management cluster, as "kubectl get WHAT -o jsonpath=PATH" prints it. It
// asks the API server itself: tests read several times a second while they wait, and a process for each read costs more than the
// world that is tested. WHAT is "kind/name ...", "kind[,kind]" or "kind name", and may have "-l", "--field-selector" and "-A".
func (w *World) Read(path string, what ...string) string {
	w.T.Helper()
	return w.read(w.Kubeconfig, path, what)
}

// ReadFrom is Read for a workload cluster of namespace default.
func (w *World) ReadFrom(cluster, path string, what ...string) string {
	w.T.Helper()
	return w.read(w.ClusterKubeconfig(cluster), path, what)
}

func (w *World) read(kubeconfig, path string, what []string) string {
	w.T.Helper()
	r, err := w.readers.open(kubeconfig)
	if err != nil {
		w.T.Fatal(err)
	}
	text, err := r.print(w.T.Context(), path, what)
	if err != nil {
		w.T.Fatalf("read %s: %v", strings.Join(what, " "), err)
	}
	return text
}

// readers are the clients of a world's API servers, by the kubeconfig that they were made from.
type readers struct {
	mu    sync.Mutex
	known map[string]*reader
}

// reader reads objects of any kind from one API server.
type reader struct {
	objects dynamic.Interface
	kinds   meta.RESTMapper
}

func (r *readers) open(kubeconfig string) (*reader, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.known[kubeconfig]; known != nil {
		return known, nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1 // the test's own pace is the limit
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	served, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	made := &reader{objects: objects, kinds: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(served))}
	if r.known == nil {
		r.known = map[string]*reader{}
	}
	r.known[kubeconfig] = made
	return made, nil
}

// query holds the parsed arguments of kubectl.
type query struct {
	kinds, names []string
	// single is true for one object by name. Everything else is a list.
	single    bool
	namespace string
	list      metav1.ListOptions
}

// parse understands the arguments of "kubectl get" that Read documents.
func parse(what []string) (query, error) {
	q := query{namespace: defaultNamespace}
	var plain []string
	for k := 0; k < len(what); k++ {
		option := map[string]*string{"-l": &q.list.LabelSelector, "--field-selector": &q.list.FieldSelector}[what[k]]
		switch {
		case what[k] == "-A":
			q.namespace = metav1.NamespaceAll
		case option != nil && k+1 < len(what):
			k++
			*option = what[k]
		default:
			plain = append(plain, what[k])
		}
	}
	switch {
	case len(plain) == 0:
		return q, errors.New("want kinds or objects, got none")
	case strings.Contains(plain[0], "/"):
		for _, object := range plain {
			kind, name, _ := strings.Cut(object, "/")
			q.kinds, q.names = append(q.kinds, kind), append(q.names, name)
		}
		q.single = len(plain) == 1
	case len(plain) == 2:
		q.kinds, q.names, q.single = plain[:1], plain[1:], true
	case len(plain) == 1:
		q.kinds = strings.Split(plain[0], ",")
	default:
		return q, fmt.Errorf("want kind/name, kinds, or a kind and a name, got %v", plain)
	}
	return q, nil
}

// print reads objects and gives what path selects from the only one, or from the list of them.
func (r *reader) print(ctx context.Context, path string, what []string) (string, error) {
	q, err := parse(what)
	if err != nil {
		return "", err
	}
	found := []any{}
	for k, kind := range q.kinds {
		objects, err := r.objectsOf(kind, q.namespace)
		if err != nil {
			return "", err
		}
		if len(q.names) > 0 {
			object, err := objects.Get(ctx, q.names[k], metav1.GetOptions{})
			if err != nil {
				return "", err
			}
			found = append(found, object.Object)
			continue
		}
		list, err := objects.List(ctx, q.list)
		if err != nil {
			return "", err
		}
		found = append(found, contents(list)...)
	}
	if q.single {
		return selected(path, found[0])
	}
	return selected(path, map[string]any{"items": found})
}

// objectsOf returns the client of a kind, by its resource or singular name.
func (r *reader) objectsOf(kind, namespace string) (dynamic.ResourceInterface, error) {
	gvk, err := r.kinds.KindFor(schema.GroupVersionResource{Resource: kind})
	if err != nil {
		return nil, err
	}
	mapping, err := r.kinds.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		namespace = metav1.NamespaceAll
	}
	return r.objects.Resource(mapping.Resource).Namespace(namespace), nil
}

func contents(list *unstructured.UnstructuredList) []any {
	all := make([]any, 0, len(list.Items))
	for _, item := range list.Items {
		all = append(all, item.Object)
	}
	return all
}

// selected returns the result of a JSONPath, as kubectl prints it.
func selected(path string, from any) (string, error) {
	template := jsonpath.New("read").AllowMissingKeys(true)
	if err := template.Parse(path); err != nil {
		return "", err
	}
	var text bytes.Buffer
	if err := template.Execute(&text, from); err != nil {
		return "", err
	}
	return text.String(), nil
}
