package standintest_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/muster-project/muster/local/apiserver"
	"github.com/muster-project/muster/local/clouds/gcp/standin"
	"github.com/muster-project/muster/local/install"
	"github.com/muster-project/muster/test/testrun"
)

// stall bounds the time without progress of the test's servers.
const stall = 15 * time.Second

// TestLongInterruptedStart starts a server with a hook that fails once, and again after a kill between two steps of a definition. Another
// server in the same process serves all the time.
func TestLongInterruptedStart(t *testing.T) {
	testrun.LongOnly(t)
	dir := t.TempDir()
	etcd, err := apiserver.StartEtcd(filepath.Join(dir, "etcd"))
	if err != nil {
		t.Fatal(err)
	}
	defer etcd.Close()
	neighbour, err := apiserver.Start(t.Context(), apiserver.Options{Name: "neighbour", Dir: filepath.Join(dir, "neighbour"), Etcd: etcd,
		Prefix: "/neighbour"})
	if err != nil {
		t.Fatal(err)
	}
	defer neighbour.Stop()

	var runs atomic.Int32
	o := apiserver.Options{Name: "server", Dir: filepath.Join(dir, "server"), Etcd: etcd, Prefix: "/server", Stall: stall,
		Hooks: map[string]genericapiserver.PostStartHookFunc{"fails-once": func(genericapiserver.PostStartHookContext) error {
			if runs.Add(1) == 1 {
				return errors.New("missed its deadline")
			}
			return nil
		}}}
	server, err := apiserver.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if n := runs.Load(); n != 2 {
		t.Errorf("want the server started again once, its hook ran %d times", n)
	}
	if err := install.Definitions(t.Context(), server.Config, nil, standin.Kinds()...); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	unestablish(t, etcd, "/server/apiextensions.k8s.io/customresourcedefinitions/gcpclusters.infrastructure.cluster.x-k8s.io")

	if server, err = apiserver.Start(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	if err := install.Definitions(t.Context(), server.Config, nil, standin.Kinds()...); err != nil {
		t.Errorf("a definition that was accepted and not established: %v", err)
	}
	if _, err := clientOf(t, neighbour.Config).Discovery().ServerVersion(); err != nil {
		t.Errorf("the server whose neighbour was started again: %v", err)
	}
}

// unestablish leaves a definition in the store as a server leaves it that is killed once its names are accepted.
func unestablish(t *testing.T, etcd *apiserver.Etcd, key string) {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{etcd.URL}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	found, err := c.Get(ctx, key)
	if err != nil || len(found.Kvs) != 1 {
		t.Fatalf("the stored definition %s: %v, %v", key, found, err)
	}
	const established, installing = `"type":"Established","status":"True"`, `"type":"Established","status":"False"`
	// Any other change of the bytes would be overwritten by the first client that applies the definition, which would also establish it.
	changed := strings.Replace(string(found.Kvs[0].Value), established, installing, 1)
	if changed == string(found.Kvs[0].Value) {
		t.Fatalf("want a stored definition with %s, found %s", established, changed)
	}
	if _, err := c.Put(ctx, key, changed); err != nil {
		t.Fatal(err)
	}
}
