// Package alone runs the tests of a package around a real API server of their own.
package alone

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/muster-project/muster/local/apiserver"
	"github.com/muster-project/muster/test/garbage"
)

// Start is what else a package needs beside its API server. It may keep files in the folder, and what it gives back ends it.
type Start func(ctx context.Context, s *apiserver.Server, dir string) (stop func() error, err error)

// memory is where garbage is collected more often than test/garbage says.
const memory = 1 << 30

// Run runs a package's tests, and says with which code its process is to end. With -short no server is started: the tests that
// need one have to skip themselves. What servers and controllers log of refusals is what tests ask for, and is not shown.
func Run(m *testing.M, name string, start Start) int {
	flag.Parse()
	if testing.Short() {
		return m.Run()
	}
	garbage.Allow(garbage.APIServers)
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memory)
	}
	code, err := run(m, name, start)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func run(m *testing.M, name string, start Start) (code int, err error) {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	ctrl.SetLogger(klog.Background())
	dir, err := os.MkdirTemp("", "muster-"+name+"-")
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
	s, err := apiserver.Start(ctx, apiserver.Options{Name: name, Dir: filepath.Join(dir, "server"), Etcd: etcd, Prefix: "/" + name})
	if err != nil {
		return 0, err
	}
	defer s.Stop()
	stop, err := start(ctx, s, dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	return m.Run(), nil
}
