// Command apiserver is one API server, with a store of its own, for the tests of a package. It ends with its standard input: however a test
// ends, no server is left.
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
	"github.com/muster-project/muster/test/garbage"
)

func main() {
	dir, name := flag.String("dir", "", "folder of the server's files"), flag.String("name", "", "name of the server")
	flag.Parse()
	if err := serve(context.Background(), *dir, *name); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve writes the administrator's kubeconfig into the folder, says on the standard output that the server is ready, and returns when the
// standard input has ended. What the server logs of refusals is what tests ask for, and is not shown.
func serve(ctx context.Context, dir, name string) error {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	garbage.AllowServer()
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
