package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

const (
	// userID is the number of the image's user and group.
	userID = 65532
	// startTimeout bounds each of the two starts: of the local world, and of the manager.
	startTimeout = 4 * time.Minute
)

// startImage unpacks the image into an empty root, and starts its manager there as the image's user, without a folder that this user
// can write to, against the API server of a local world that the release's own muster starts. It returns once /readyz answers 200.
func startImage(dir, archive string) error {
	if os.Geteuid() != 0 {
		return errors.New("starting the image's manager in a root of its own needs root: run the check with sudo")
	}
	scratch, err := os.MkdirTemp("", "muster-release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	layout, root, world := filepath.Join(scratch, "layout"), filepath.Join(scratch, "root"), filepath.Join(scratch, "world")
	for _, d := range []string{layout, root, world} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	image, err := readImage(archive, layout)
	if err != nil {
		return err
	}
	if err := unpackImage(image, root); err != nil {
		return err
	}
	stop, err := startWorld(filepath.Join(dir, platform{"linux", runtime.GOARCH}.binary("muster")), world)
	defer stop()
	if err != nil {
		return err
	}
	kubeconfig, err := os.ReadFile(filepath.Join(world, "kubeconfig"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, "kubeconfig"), kubeconfig, 0o444); err != nil {
		return err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return err
	}
	return startManager(root, file.Config.Labels[versionLabel])
}

// startWorld starts a local world and returns once it serves the kinds of Cluster API. The function it returns ends the world.
func startWorld(muster, dir string) (stop func(), err error) {
	log, err := os.Create(dir + ".log")
	if err != nil {
		return func() {}, err
	}
	cmd := exec.Command(muster, "up", "--dir", dir)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return func() {}, err
	}
	ended, done := make(chan error, 1), make(chan struct{})
	go func() {
		ended <- cmd.Wait()
		close(done)
	}()
	stop = func() {
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case <-done: // interrupted while it starts, a world ends with an error
		case <-time.After(time.Minute):
			_ = cmd.Process.Kill()
		}
	}
	kubeconfig := filepath.Join(dir, "kubeconfig")
	// The kinds that the manager watches are served later than the API server answers.
	err = until(ended, func() bool {
		return exec.Command(muster, "kubectl", "--kubeconfig", kubeconfig, "get", "machinesets.cluster.x-k8s.io,machinepools.cluster.x-k8s.io",
			"-A").Run() == nil
	})
	if err != nil {
		text, _ := os.ReadFile(dir + ".log")
		return stop, fmt.Errorf("start a local world: %w\n%s", err, text)
	}
	return stop, nil
}

// startManager starts the manager in its root and waits for /readyz. The manager must log the version of its image.
// Webhooks are left out: their certificates come from the cluster.
func startManager(root, version string) error {
	address, err := freeAddress()
	if err != nil {
		return err
	}
	cmd := exec.Command(entrypoint, "--kubeconfig=/kubeconfig", "--health-addr="+address, "--diagnostics-address=0",
		"--controllers=machinepool", "--namespace=release-check")
	cmd.Dir, cmd.Env = "/", []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: userID, Gid: userID}}
	log, err := os.Create(root + ".log")
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = log, log
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		ended <- cmd.Wait()
		close(ended)
	}()
	err = until(ended, func() bool { return ready("http://" + address + "/readyz") })
	text, _ := os.ReadFile(root + ".log")
	if err == nil && !bytes.Contains(text, []byte("version=\""+version+"\"")) {
		err = fmt.Errorf("want version %q in its log", version)
	}
	if err != nil {
		_ = cmd.Process.Kill()
		return fmt.Errorf("start the image's manager: %w\n%s", err, text)
	}
	fmt.Printf("the image's manager %s answers /readyz as user %d after %.1f s\n", version, userID, time.Since(begin).Seconds())
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(time.Minute):
		return errors.Join(errors.New("the image's manager did not end within a minute"), cmd.Process.Kill())
	}
}

// until waits for a condition, for the end of a process, which is an error, or for the time to run out.
func until(ended <-chan error, done func() bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case err := <-ended:
			return fmt.Errorf("it ended early: %w", err)
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

func ready(url string) bool {
	client := http.Client{Timeout: time.Second}
	answer, err := client.Get(url)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// freeAddress returns a local address that nothing listens on.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
