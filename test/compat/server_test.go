// Package compat holds that what is published for Cluster API works as it stands: manifests apply unchanged, columns are
// what people know, and what is wrong is refused with the name of the field.
package compat

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/local/apiserver"
	"github.com/muster-project/muster/local/install"
)

// server is the one API server of all tests; each test works in a namespace of its own.
var server *rest.Config

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}

// run starts the API server around the tests.
func run(m *testing.M) (code int, err error) {
	if testing.Short() {
		return m.Run(), nil
	}
	dir, err := os.MkdirTemp("", "muster-compat-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	etcd, err := apiserver.StartEtcd(filepath.Join(dir, "etcd"))
	if err != nil {
		return 0, err
	}
	defer etcd.Close()
	s, err := apiserver.Start(ctx, apiserver.Options{Name: "compat", Dir: filepath.Join(dir, "server"), Etcd: etcd, Prefix: "/compat"})
	if err != nil {
		return 0, err
	}
	defer s.Stop()
	if err := install.Definitions(ctx, s.Config, nil); err != nil {
		return 0, err
	}
	server = s.Config
	return m.Run(), nil
}

// admin is a client of the server that knows no type.
func admin(t *testing.T) client.Client {
	t.Helper()
	if testing.Short() {
		t.Skip("an API server: left out with -short")
	}
	c, err := client.New(server, client.Options{Scheme: runtime.NewScheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
