package kubeconfig

import (
	"context"
	"fmt"
	"maps"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Guard stands between a ClusterCache and the Secrets that it connects by: the cache reads reduced kubeconfigs through Secrets, and its
// users get the refusal through Clusters, not only that there is no connection. It is safe for concurrent use.
type Guard struct {
	mu      sync.Mutex
	refused map[client.ObjectKey]*RefusedError
}

// NewGuard returns a guard.
func NewGuard() *Guard { return &Guard{refused: map[client.ObjectKey]*RefusedError{}} }

// Secrets returns a reader whose kubeconfig Secrets hold reduced kubeconfigs. One that is refused can't be read.
func (g *Guard) Secrets(base client.Reader) client.Reader { return secrets{base, g} }

// Clusters returns the cache, whose errors say which kubeconfig was refused.
func (g *Guard) Clusters(base clustercache.ClusterCache) clustercache.ClusterCache {
	return clusters{base, g}
}

// record keeps the last answer about a cluster.
func (g *Guard) record(cluster client.ObjectKey, refused *RefusedError) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if refused == nil {
		delete(g.refused, cluster)
		return
	}
	g.refused[cluster] = refused
}

// explain adds the refusal to the error of a cluster that is not connected.
func (g *Guard) explain(cluster client.ObjectKey, err error) error {
	if err == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if refused := g.refused[cluster]; refused != nil {
		return fmt.Errorf("%w: %w", err, refused)
	}
	return err
}

type secrets struct {
	client.Reader
	guard *Guard
}

// Get reduces the kubeconfig of a Secret that was read.
func (s secrets) Get(ctx context.Context, key client.ObjectKey, out client.Object, opts ...client.GetOption) error {
	err := s.Reader.Get(ctx, key, out, opts...)
	found, ok := out.(*corev1.Secret)
	name, purpose, parseErr := secret.ParseSecretName(key.Name)
	if !ok || parseErr != nil || purpose != secret.Kubeconfig {
		return err
	}
	cluster := client.ObjectKey{Namespace: key.Namespace, Name: name}
	if err != nil {
		s.guard.record(cluster, nil)
		return err
	}
	refused, err := reduceSecret(found, key)
	s.guard.record(cluster, refused)
	return err
}

// reduceSecret replaces the kubeconfig of a Secret. One that has none stays as it is.
func reduceSecret(s *corev1.Secret, key client.ObjectKey) (*RefusedError, error) {
	data, ok := s.Data[secret.KubeconfigDataName]
	if !ok {
		return nil, nil
	}
	reduced, refused := reduce(data, key)
	s.Data = maps.Clone(s.Data)
	delete(s.Data, secret.KubeconfigDataName)
	if refused != nil {
		return refused, refused
	}
	clean, err := clientcmd.Write(*reduced)
	if err != nil {
		return nil, fmt.Errorf("write the reduced kubeconfig of Secret %s: %w", key, err)
	}
	s.Data[secret.KubeconfigDataName] = clean
	return nil, nil
}

type clusters struct {
	clustercache.ClusterCache
	guard *Guard
}

// GetClient returns the cached client of a cluster.
func (c clusters) GetClient(ctx context.Context, cluster client.ObjectKey) (client.Client, error) {
	got, err := c.ClusterCache.GetClient(ctx, cluster)
	return got, c.guard.explain(cluster, err)
}

// GetReader returns the cached reader of a cluster.
func (c clusters) GetReader(ctx context.Context, cluster client.ObjectKey) (client.Reader, error) {
	got, err := c.ClusterCache.GetReader(ctx, cluster)
	return got, c.guard.explain(cluster, err)
}

// GetUncachedClient returns the live client of a cluster.
func (c clusters) GetUncachedClient(ctx context.Context, cluster client.ObjectKey) (client.Client, error) {
	got, err := c.ClusterCache.GetUncachedClient(ctx, cluster)
	return got, c.guard.explain(cluster, err)
}

// GetRESTConfig returns the configuration of clients of a cluster.
func (c clusters) GetRESTConfig(ctx context.Context, cluster client.ObjectKey) (*rest.Config, error) {
	got, err := c.ClusterCache.GetRESTConfig(ctx, cluster)
	return got, c.guard.explain(cluster, err)
}
