// Command apiserver is an API server with its own store for the tests of a package. It ends with its standard input: however a test ends,
// no server is left.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"k8s.io/klog/v2"

	"github.com/muster-project/muster/local/apiserver"
	"github.com/muster-project/muster/test/testrun"
)

func main() {
	dir, name := flag.String("dir", "", "folder of the server's files"), flag.String("name", "", "name of the server")
	flag.Parse()
	if err := serve(context.Background(), *dir, *name); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve writes the administrator's kubeconfig into dir, prints a line when the server is ready, and returns at the end of standard input.
// Errors that the server logs are expected by the tests and not shown.
func serve(ctx context.Context, dir, name string) error {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	testrun.AllowServerGarbage()
	etcd, err := apiserver.StartEtcd(filepath.Join(dir, "etcd"))
	if err != nil {
		return err
	}
	defer etcd.Close()
	s, err := apiserver.Start(ctx, apiserver.Options{Name: name, Dir: dir, Etcd: etcd, Prefix: "/" + name})
	if err != nil {
		return err
	}
	defer s.Stop()
	if err := s.KeepKubeconfig(filepath.Join(dir, "kubeconfig")); err != nil {
		return err
	}
	if _, err := fmt.Println("ready"); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
