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

	"github.com/muster-project/muster/test/testrun"
)

// Start starts what a package needs in addition to its API server. It may store files in dir. stop releases everything.
type Start func(ctx context.Context, s *Server, dir string) (stop func() error, err error)

// Run runs the tests of a package and returns the exit code of the process. With -short no server is started, and tests that need one have
// to skip themselves. Errors that controllers log are expected by the tests and not shown.
func Run(m *testing.M, name string, start Start) int {
	flag.Parse()
	if testing.Short() {
		return m.Run()
	}
	testrun.AllowServerGarbage()
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
