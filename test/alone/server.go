package alone

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/muster-project/muster/test/binary"
)

// adminQPS and adminBurst of the administrator's client: throttling it would only slow the tests down.
const adminQPS, adminBurst = 1000, 2000

// Server is an API server in a separate process, so that no test binary is linked with one.
type Server struct {
	// Kubeconfig and Config make a client its administrator.
	Kubeconfig []byte
	Config     *rest.Config
	// File holds the Kubeconfig.
	File string
	// Port of 127.0.0.1 that it serves.
	Port int

	process *exec.Cmd
	in      io.Closer
	out     io.Reader
	remove  func()
}

// StartServer starts an API server with its files in dir, and returns when it is ready.
func StartServer(name, dir string) (*Server, error) {
	path, remove, err := binary.Build("test/alone/apiserver")
	if err != nil {
		return nil, err
	}
	s := &Server{File: filepath.Join(dir, "kubeconfig"), process: exec.Command(path, "-name="+name, "-dir="+dir), remove: remove}
	if err := s.run(); err != nil {
		remove()
		return nil, fmt.Errorf("start the API server of %s: %w", name, err)
	}
	if err := s.connect(); err != nil {
		return nil, errors.Join(fmt.Errorf("reach the API server of %s: %w", name, err), s.Stop())
	}
	return s, nil
}

// run starts the process and returns when it reports the server ready.
func (s *Server) run() (err error) {
	s.process.Stderr = os.Stderr
	if s.in, err = s.process.StdinPipe(); err != nil {
		return err
	}
	if s.out, err = s.process.StdoutPipe(); err != nil {
		return err
	}
	if err := s.process.Start(); err != nil {
		return err
	}
	if !bufio.NewScanner(s.out).Scan() {
		return errors.Join(errors.New("it ended before it was ready"), s.process.Wait())
	}
	return nil
}

// connect reads the kubeconfig that the server has written.
func (s *Server) connect() (err error) {
	if s.Kubeconfig, err = os.ReadFile(s.File); err != nil {
		return err
	}
	if s.Config, err = clientcmd.RESTConfigFromKubeConfig(s.Kubeconfig); err != nil {
		return err
	}
	s.Config.QPS, s.Config.Burst = adminQPS, adminBurst
	at, err := url.Parse(s.Config.Host)
	if err == nil {
		s.Port, err = strconv.Atoi(at.Port())
	}
	return err
}

// Stop ends the server and returns when its process is gone.
func (s *Server) Stop() error {
	defer s.remove()
	return errors.Join(s.in.Close(), s.process.Wait())
}
