package machinepool

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/muster-project/muster/kube/machinepool/members"
	"github.com/muster-project/muster/kube/nodes"
)

// BenchmarkNodeReferences measures how a pass over a pool of 100 finds its Nodes, in clusters of several sizes, in the cache that
// controllers use. The cost should depend only on the size of the pool.
func BenchmarkNodeReferences(b *testing.B) {
	for _, size := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("of_%d_nodes", size), func(b *testing.B) {
			reader := cachedNodes(b, size)
			pool := aPool(100)
			for i := range 100 {
				pool.Spec.ProviderIDList = append(pool.Spec.ProviderIDList, fmt.Sprintf("aws:///zone-a/i-%05d", i*size/100))
			}
			b.ReportAllocs()
			for b.Loop() {
				found, err := nodes.ByProviderKeys(b.Context(), reader, nodes.Keys(pool.Spec.ProviderIDList))
				if err != nil {
					b.Fatal(err)
				}
				if counted, _ := members.CountNodes(pool, found, members.MachinesByInstance{}, time.Now()); len(counted.Refs) != 100 {
					b.Fatalf("want 100 references, got %d", len(counted.Refs))
				}
			}
		})
	}
}

// cachedNodes returns a controller's cache of a cluster with a number of Nodes.
func cachedNodes(b *testing.B, size int) cache.Cache {
	b.Helper()
	list := &corev1.NodeList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NodeList"}, ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	for i := range size {
		n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n-%05d", i), ResourceVersion: "1"},
			Spec: corev1.NodeSpec{ProviderID: fmt.Sprintf("aws:///zone-a/i-%05d", i)}}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		list.Items = append(list.Items, n)
	}
	body, err := json.Marshal(list)
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Query().Get("sendInitialEvents") != "":
			w.WriteHeader(http.StatusBadRequest)
		case r.URL.Query().Get("watch") != "":
			w.WriteHeader(http.StatusOK)
			<-r.Context().Done()
		default:
			_, _ = w.Write(body)
		}
	}))
	b.Cleanup(server.Close)
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Node"), meta.RESTScopeRoot)
	c, err := cache.New(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json",
		AcceptContentTypes: "application/json"}},
		cache.Options{Scheme: clientgoscheme.Scheme, Mapper: mapper})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	for _, i := range nodes.Indexes() {
		if err := c.IndexField(ctx, i.Object, i.Field, i.ExtractValue); err != nil {
			b.Fatal(err)
		}
	}
	done := make(chan error, 1)
	go func() { done <- c.Start(ctx) }()
	b.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
		server.CloseClientConnections()
	})
	if !c.WaitForCacheSync(ctx) {
		b.Fatal("the cache did not come up")
	}
	return c
}
