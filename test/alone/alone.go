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
	"testing"

	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/muster-project/muster/test/garbage"
)

// Start is what else a package needs beside its API server. It may keep files in the folder, and what it gives back ends it.
type Start func(ctx context.Context, s *Server, dir string) (stop func() error, err error)

// Run runs a package's tests, and returns the code with which its process is to end. With -short no server is started: the tests that
// need one have to skip themselves. What controllers log of refusals is what tests ask for, and is not shown.
func Run(m *testing.M, name string, start Start) int {
	flag.Parse()
	if testing.Short() {
		return m.Run()
	}
	garbage.AllowServer()
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
	s, err := StartServer(name, filepath.Join(dir, "server"))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	stop, err := start(ctx, s, dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	return m.Run(), nil
}
